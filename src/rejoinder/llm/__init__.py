"""Language models: endpoints and local models, as judges and as features of judges."""
