"""textsan: how much does differentially private text sanitization really hide?"""
