package sample

import "testing"

func TestLarger(t *testing.T) {
	for _, row := range [][3]int{{1, 2, 2}, {2, 1, 2}} {
		if got := Larger(row[0], row[1]); got != row[2] {
			t.Errorf("%v: %d", row, got)
		}
	}
}

func TestGrade(t *testing.T) {
	if Grade(90) != "passed" || Grade(10) != "failed" {
		t.Error("wrong")
	}
}

func TestChecked(t *testing.T) {
	if n, err := Checked(3); n != 3 || err != nil {
		t.Error("wrong")
	}
}

func TestForever(t *testing.T) {
	if Forever(3) != 3 {
		t.Error("wrong")
	}
}
