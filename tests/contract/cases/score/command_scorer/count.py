import json
import sys

for line in sys.stdin:
    sys.stdout.write(json.dumps({"score": len(json.loads(line)["response"].split())}) + "\n")
    sys.stdout.flush()
