import json
import sys

for line in sys.stdin:
    sys.stdout.write(json.dumps({"response": "you said : " + json.loads(line)["context"][-1]}) + "\n")
    sys.stdout.flush()
