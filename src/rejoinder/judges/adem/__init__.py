"""Bilinear judges: ADEM and its halves, AutoJudge, the panel."""
