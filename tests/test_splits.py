import textsan


def test_private_and_shadow_share_no_sentence_and_the_vocabulary_is_theirs():
    setting = textsan.load_split("rt", 300, 200, seed=3)
    assert (len(setting.private), len(setting.shadow)) == (300, 200)
    assert not {tuple(doc) for doc in setting.private} & {tuple(doc) for doc in setting.shadow}
    words = {word for doc in setting.private + setting.shadow for word in doc}
    glove = textsan.load_embeddings()
    assert set(setting.embeddings.words) == words & set(glove.words)
    ranks = [glove.index[word] for word in setting.embeddings.words]
    assert ranks == sorted(ranks)


def test_the_seed_draws_the_sentences():
    one, same, other = (textsan.load_split("rt", 50, 50, seed=seed).private for seed in (0, 0, 1))
    assert one == same != other
