"""The programs behind one table each, run by the engine of the sweeps.

They import `textsan`; a chapter shows what they computed.
"""
