from labelled.streams import Scenarios

UNSEEN: Scenarios = []
