"""The exercises of each chapter: what an answer must do. Their text and their solutions stand in ``solutions/``."""
