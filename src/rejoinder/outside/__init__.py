"""Programs and endpoints that a user names: the one way to run or to ask them, and the scorers made of them."""
