"""Result files of other evaluation programs to records with the fields of ours, their judges' scores under `scores`."""
