package collector

import (
	"regexp"
	"strings"

	"github.com/firebreak-io/firebreak/parsers"
)

// hintOf tells a service and an instance from the names of an input's folders
// and file: "order-service/10.20.3.14/app.log". What stands nearest to the file
// counts; names that only say what kind of file it is do not.
func hintOf(path string) parsers.Hint {
	var h parsers.Hint
	parts := strings.Split(path, "/")
	for i := len(parts) - 1; i >= 0; i-- {
		service, instance := nameHint(parts[i], i == len(parts)-1)
		if h.Instance == "" && (h.Service == "" || service == "" || service == h.Service) {
			h.Instance = instance
		}
		if h.Service == "" {
			h.Service = service
		}
	}
	return h
}

var (
	extension = regexp.MustCompile(`(?i)\.(log|logs|txt|out|err|json|jsonl|csv|tsv|gz|tgz|zst|bz2|xz|zip|tar|dump|tdump|jstack|trace|prof|pprof|pb|sql|md|bak|old|\d{1,5})$`)
	dateTime  = regexp.MustCompile(`(19|20)\d\d[-_.]?\d\d[-_.]?\d\d([-_.T ]?\d\d[-_.:h]?\d\d([-_.:m]?\d\d)?(\.\d+)?Z?)?`)
	address   = regexp.MustCompile(`(?:^|[^0-9])((?:\d{1,3}[.-]){3}\d{1,3})(?:[-_:]\d{2,5})?(?:[^0-9]|$)`)
	podName   = regexp.MustCompile(`^([a-z0-9][a-z0-9.-]*?)-(?:[bcdfghjklmnpqrstvwxz2456789]{6,10}|[0-9a-f]{8,10})-[bcdfghjklmnpqrstvwxz2456789]{5}$`)
	podFolder = regexp.MustCompile(`^[a-z0-9-]+_([a-z0-9.-]+)_[0-9a-f-]{32,36}$`)          // <namespace>_<pod>_<uid>
	podFile   = regexp.MustCompile(`^([a-z0-9.-]+)_[a-z0-9-]+_([a-z0-9-]+)-[0-9a-f]{64}$`) // <pod>_<namespace>_<container>-<id>
	hexID     = regexp.MustCompile(`^[0-9a-f]{12,64}$`)
	ordinal   = regexp.MustCompile(`^(.+)-(\d{1,3})$`)
	word      = regexp.MustCompile(`[^-_. ]+`)
)

// generic words say nothing of whose file it is, wherever they stand.
var generic = words(`log logs app apps application applications jstack dump dumps thread threads threaddump
	stdout stderr output error errors err warn info debug trace gc heap var tmp temp opt srv usr home root mnt data
	server main all console catalina localhost access slow query slowlog sql mysql mysqld mariadb postgres postgresql pg
	processlist incident incidents outage inc case evidence bundle capture captured sample samples input inputs
	before after during peak prod production staging test uat dev pre online offline download downloads desktop
	documents work workspace archive archives file files report reports nohup java jvm tomcat spring system sys
	syslog messages journal current previous prev old new latest backup bak part host hosts node nodes pod pods
	container containers docker kubernetes k8s instance instances snapshot stack stacks goroutine goroutines profile pprof
	cpu metrics traces spans otel dubbo rpc common default biz hikari druid mybatis redis explain plan locks lock
	innodb status activity stat top vmstat iostat dmesg config conf etc lib www paste clipboard untitled unnamed
	readme notes note td json txt stdin day night morning today yesterday full first second third`)

// kinds are generic at a name's beginning, but at its end belong to it.
var kinds = words(`server app application service api web`)

func words(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// nameHint reads one name of a path.
func nameHint(name string, file bool) (service, instance string) {
	if file {
		for {
			cut := extension.ReplaceAllString(name, "")
			if cut == name || cut == "" || address.FindString(name) != "" && address.FindString(cut) == "" {
				break // the number was an address's
			}
			name = cut
		}
	}
	if m := podFolder.FindStringSubmatch(name); m != nil {
		name = m[1]
	} else if m := podFile.FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	if m := podName.FindStringSubmatch(name); m != nil && strings.ContainsAny(name[len(m[1]):], "0123456789") {
		return m[1], name
	}
	whole := name
	name = dateTime.ReplaceAllString(name, "-")
	if m := address.FindStringSubmatchIndex(name); m != nil {
		instance = strings.ReplaceAll(name[m[2]:m[3]], "-", ".")
		end := m[1]
		name = strings.TrimSuffix(name[:m[2]], "ip-") + " " + name[end:]
	}
	spans := word.FindAllStringIndex(name, -1)
	text := func(i int) string { return strings.ToLower(name[spans[i][0]:spans[i][1]]) }
	for len(spans) > 0 && dull(text(0)) {
		spans = spans[1:]
	}
	for len(spans) > 0 {
		last := text(len(spans) - 1)
		if !dull(last) || kinds[last] && len(spans) > 1 {
			break
		}
		spans = spans[:len(spans)-1]
	}
	if len(spans) == 0 || len(spans) == 1 && kinds[text(0)] {
		return "", instance
	}
	service = name[spans[0][0]:spans[len(spans)-1][1]]
	if strings.ContainsAny(service, " ") || len(service) < 2 || len(service) > 80 {
		return "", instance
	}
	if m := ordinal.FindStringSubmatch(whole); instance == "" && !file && m != nil {
		instance = whole // a folder order-1 is one of several
	}
	return service, instance
}

// dull reports whether a word of a name says nothing of whose file it is.
func dull(w string) bool {
	return generic[w] || strings.Trim(w, "0123456789") == "" || hexID.MatchString(w) ||
		generic[strings.TrimRight(w, "0123456789")]
}
