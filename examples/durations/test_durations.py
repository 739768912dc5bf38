import unittest

from durations import parse_duration


class ParseDuration(unittest.TestCase):
    def test_reads_one_unit(self):
        self.assertEqual(parse_duration("45s"), 45)

    def test_adds_several_units(self):
        self.assertEqual(parse_duration("1h30m"), 5400)

    def test_refuses_what_is_no_duration(self):
        for text in ["", "soon", "5", "10x", "1h30"]:
            with self.subTest(text), self.assertRaises(ValueError):
                parse_duration(text)


if __name__ == "__main__":
    unittest.main()
