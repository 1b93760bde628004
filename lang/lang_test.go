package lang

import (
	"fmt"
	"testing"
)

func TestFromEnv(t *testing.T) {
	for _, c := range []struct{ lcAll, lcMessages, lang, want string }{
		{"", "", "", English},
		{"", "", "zh_CN.UTF-8", Chinese},
		{"", "", "zh", Chinese},
		{"", "", "en_GB.UTF-8", English},
		{"", "", "C.UTF-8", English},
		{"", "", "de_DE", English},
		{"", "zh_CN", "en_US", Chinese},
		{"", "en_US", "zh_CN", English},
		{"C", "zh_CN", "zh_CN", English},
		{"zh_TW.Big5", "", "", Chinese},
	} {
		if got := FromEnv(c.lcAll, c.lcMessages, c.lang); got != c.want {
			t.Errorf("FromEnv(%q, %q, %q) is %q, not %q", c.lcAll, c.lcMessages, c.lang, got, c.want)
		}
	}
}

func TestUse(t *testing.T) {
	defer func() { _ = Use(English) }()
	for tag, want := range map[string]string{"en": English, "EN-us": English, "C": English, "POSIX": English, "zh": Chinese, "zh-CN": Chinese, "zh_CN.UTF-8": Chinese, "zh-Hans": Chinese, " ZH ": Chinese} {
		if err := Use(tag); err != nil || Current() != want {
			t.Errorf("Use(%q): %v, and the language is %s", tag, err, Current())
		}
	}
	for _, tag := range []string{"", "de", "z", "中文"} {
		if err := Use(tag); err == nil {
			t.Errorf("Use(%q) is no error", tag)
		}
	}
}

func TestSay(t *testing.T) {
	current.Store(parse("# a comment\n\nen  %s of %d\nzh  %[2]d 中的 %[1]s\nen  one\n\n    two\nzh  一\n\n    二\nen  %s calls\nzh  %s 次调用\nen  slow-sql\nzh  慢 SQL\nen  untranslated\nzh  \n"))
	defer func() { _ = Use(English) }()
	for got, want := range map[string]string{
		Sprintf("%s of %d", "a", 2):             "2 中的 a",
		T("one\n\ntwo"):                         "一\n\n二",
		T("unknown"):                            "unknown",
		T("untranslated"):                       "untranslated",
		Plural(1, "1", "call", "calls"):         "1 次调用",
		Plural(1, "1", "thing", "things"):       "1 thing",
		Plural(2, "2", "thing", "things"):       "2 things",
		Word("slow-sql"):                        "slow-sql 慢 SQL",
		Word("other"):                           "other",
		Upper("slow-sql"):                       "SLOW-SQL 慢 SQL",
		Join([]string{"a", "b"}):                "a，b",
		Sentences([]string{"一。", "二。"}):         "一。二。",
		Errorf("%s of %d", "a", 2).Error():      "2 中的 a",
		fmt.Sprint(In(Chinese, "Certainties!")): "Certainties!",
	} {
		if got != want {
			t.Errorf("said %q, want %q", got, want)
		}
	}
}

func TestEnglishIsTheKey(t *testing.T) {
	for got, want := range map[string]string{
		Sprintf("%d of %d", 1, 2):        "1 of 2",
		T("one"):                         "one",
		Plural(1, "1", "call", "calls"):  "1 call",
		Plural(0, "0", "call", "calls"):  "0 calls",
		Word("slow-sql"):                 "slow-sql",
		Join([]string{"a", "b"}):         "a, b",
		Sentences([]string{"A.", "B."}):  "A. B.",
		Mark("one"):                      "one",
		In(English, "one"):               "one",
		Errorf("%d of %d", 1, 2).Error(): "1 of 2",
	} {
		if got != want {
			t.Errorf("said %q, want %q", got, want)
		}
	}
}

// BenchmarkParse is what choosing Chinese costs a start.
func BenchmarkParse(b *testing.B) {
	b.SetBytes(int64(len(zhHans)))
	b.ReportAllocs()
	for b.Loop() {
		parse(zhHans)
	}
}

func BenchmarkT(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		T("English")
	}
}
