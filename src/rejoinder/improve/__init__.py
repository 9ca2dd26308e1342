"""What a judge is good for beyond judging: the best of several replies, and a reward for systems that learn."""
