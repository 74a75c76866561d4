"""Checks on hashed names: inverting them, inverting them with salts, and what does protect them."""

import hashlib

import numpy as np

NAMES = (
    "ada amara ben bianca carla chen dario dev elena eve farah felix greta hugo ida ines jonas kavya lena liam "
    "mara mina nadia noor olga omar paula piotr rosa sami tara theo uma vera wen yara yusuf zoe"
).split()


def _digest(*parts: str) -> str:
    return hashlib.sha256("".join(parts).encode("utf-8")).hexdigest()


def _keyed(key: bytes, name: str) -> str:
    """RFC 2104 for keys of 32 bytes, by hand."""
    inner, outer = (bytes(byte ^ pad for byte in key.ljust(64, b"\0")) for pad in (0x36, 0x5C))
    return hashlib.sha256(outer + hashlib.sha256(inner + name.encode("utf-8")).digest()).hexdigest()


def hashes_are_inverted(invert, *, seed: int) -> None:
    """Every digest of a known name is inverted, and no other."""
    generator = np.random.default_rng([seed, 1])
    for _ in range(3):
        known = [str(one) for one in generator.permutation(NAMES)[:25]]
        secret = [str(one) for one in generator.choice(NAMES, size=12)]
        answer = invert([_digest(name) for name in secret], known)
        assert isinstance(answer, (list, tuple)) and len(answer) == 12, (
            "one name, or None, is wanted for each digest"
        )
        for name, guess in zip(secret, answer, strict=True):
            if name in known:
                assert guess == name, (
                    "a digest of a name on the list was not inverted: hash every name and compare"
                )
            else:
                assert guess is None, "this digest belongs to no name on the list: None is wanted"


def writing_does_not_help(invert, *, seed: int) -> None:
    """Names on the list may be written with capitals and spaces; digests are of the plain name."""
    generator = np.random.default_rng([seed, 2])
    secret = [str(word) for word in generator.choice(NAMES, size=6)]
    answer = invert([_digest(name) for name in secret], [f" {name.upper()} " for name in NAMES])
    assert list(answer) == secret, "the list has ' ADA ', the digest is of 'ada': strip and lower before you hash"


def salts_are_public(invert_salted, *, seed: int) -> None:
    """A salt that stands beside the digest does not protect it."""
    generator = np.random.default_rng([seed, 3])
    known = [str(one) for one in generator.permutation(NAMES)[:25]]
    secret = [str(one) for one in generator.choice(NAMES, size=8)]
    salts = [f"{int(one):08x}" for one in generator.integers(1 << 32, size=8)]
    answer = invert_salted([_digest(salt, name) for salt, name in zip(salts, secret, strict=True)], salts, known)
    wanted = [name if name in known else None for name in secret]
    assert list(answer) == wanted, "the salt stands in the table: hash salt and name together, for each row anew"


def cost_is_counted(hashes_needed, *, seed: int) -> None:
    """One table serves all digests; with a salt each row needs its own."""
    generator = np.random.default_rng([seed, 4])
    for _ in range(4):
        rows, names = (int(integer) for integer in generator.integers(5, 100, size=2))
        plain, salted = hashes_needed(rows, names, False), hashes_needed(rows, names, True)
        assert plain == names, f"without salts {names} hashes make a table for all rows, you say {plain}"
        assert salted == rows * names, f"with salts each of {rows} rows needs all {names} names, you say {salted}"


def equal_names_stay_equal(pseudonym, *, seed: int) -> None:
    """One name has one pseudonym, however it is written, and another name another one."""
    generator = np.random.default_rng([seed, 6])
    key, seen = generator.bytes(32), set()
    for name in (str(one) for one in generator.choice(NAMES, size=5, replace=False)):
        value = pseudonym(name, key)
        assert isinstance(value, str), f"a pseudonym is text, yours is {type(value).__name__}"
        assert value == pseudonym(f" {name.title()}", key), (
            "the same name written otherwise must stay the same name"
        )
        assert value not in seen, "another name must have another pseudonym"
        seen.add(value)


def pseudonyms_need_the_key(pseudonym, *, seed: int) -> None:
    """HMAC-SHA256 under a secret key: nothing can be tried without the key."""
    generator = np.random.default_rng([seed, 5])
    key, other = generator.bytes(32), generator.bytes(32)
    for name in (str(one) for one in generator.choice(NAMES, size=5)):
        value = pseudonym(name, key)
        assert value != pseudonym(name, other), "another key must give another pseudonym: is the key used?"
        assert value != _digest(name), "this is the plain digest, which a list of names inverts"
        assert value == _keyed(key, name), (
            "use HMAC-SHA256, as hex: keys put before the name by hand can be extended"
        )
