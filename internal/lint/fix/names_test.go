package fix

import "testing"

func TestLowerFirst(t *testing.T) {
	for name, want := range map[string]string{
		"Database": "database", "HCPAuth": "hcpAuth", "DNS": "dns", "DNSRecord": "dnsRecord", "VMImage": "vmImage", "X": "x", "": "",
	} {
		if got := lowerFirst(name); got != want {
			t.Errorf("%s becomes %s, expected %s", name, got, want)
		}
	}
}
