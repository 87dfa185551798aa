"""The laboratory: the papers' systems measured on simulated networks, with the published results beside ours."""
