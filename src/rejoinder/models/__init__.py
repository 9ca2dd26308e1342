"""Plain modules: recurrent layers, hierarchical encoder, latent variable, decoder. Nothing here reads text or files."""
