package parsers

import "testing"

func TestParseJavaFrame(t *testing.T) {
	tests := []struct {
		text, fn, file string
		line           int
		native         bool
	}{
		{"java.lang.Thread.run(java.base@17.0.15/Thread.java:840)", "java.lang.Thread.run", "Thread.java", 840, false},
		{"java.base@17.0.15/java.lang.Thread.run(Thread.java:840)", "java.lang.Thread.run", "Thread.java", 840, false},
		{"java.base/java.lang.VirtualThread.park(VirtualThread.java:596)", "java.lang.VirtualThread.park", "VirtualThread.java", 596, false},
		{"app.jar//com.acme.shop.Repo.find(Repo.java:41)", "com.acme.shop.Repo.find", "Repo.java", 41, false},
		{"loader/com.acme.mod@1.2/com.acme.shop.Repo.find(Repo.java:41)", "com.acme.shop.Repo.find", "Repo.java", 41, false},
		{"jdk.internal.misc.Unsafe.park(java.base@17.0.15/Native Method)", "jdk.internal.misc.Unsafe.park", "", 0, true},
		{"sun.misc.Unsafe.park(Native Method)", "sun.misc.Unsafe.park", "", 0, true},
		{"jdk.internal.misc.Unsafe.park(Unsafe.java:-1)", "jdk.internal.misc.Unsafe.park", "Unsafe.java", 0, true},
		{"com.acme.Job$$Lambda$12/1123613131.run(Unknown Source)", "com.acme.Job$$Lambda.run", "", 0, false},
		{"com.acme.Job$$Lambda$12/0x00000008000c0840.run(Unknown Source)", "com.acme.Job$$Lambda.run", "", 0, false},
		{"com.acme.Job$$Lambda/0x00007f1a2c0c0840.run(Unknown Source)", "com.acme.Job$$Lambda.run", "", 0, false},
		{"app//com.acme.Job$$Lambda/0x00007f1a2c0c0840.run(Unknown Source)", "com.acme.Job$$Lambda.run", "", 0, false},
		{"java.lang.invoke.LambdaForm$DMH/0x0000000800c0c400.invokeStatic(java.base@17/LambdaForm$DMH)", "java.lang.invoke.LambdaForm$DMH.invokeStatic", "LambdaForm$DMH", 0, false},
		{"com.sun.proxy.$Proxy79.find(Unknown Source)", "com.sun.proxy.$Proxy.find", "", 0, false},
		{"jdk.proxy2/jdk.proxy2.$Proxy79.find(Unknown Source)", "jdk.proxy.$Proxy.find", "", 0, false},
		{"jdk.proxy2.$Proxy79.find(jdk.proxy2/Unknown Source)", "jdk.proxy.$Proxy.find", "", 0, false},
		{"sun.reflect.GeneratedMethodAccessor163.invoke(Unknown Source)", "sun.reflect.GeneratedMethodAccessor.invoke", "", 0, false},
		{"jdk.internal.reflect.DirectMethodHandleAccessor.invoke(DirectMethodHandleAccessor.java:103)", "jdk.internal.reflect.DirectMethodHandleAccessor.invoke", "DirectMethodHandleAccessor.java", 103, false},
		{"sun.reflect.DelegatingMethodAccessorImpl.invoke(X.java:1)", "sun.reflect.DelegatingMethodAccessorImpl.invoke", "X.java", 1, false},
		{"com.acme.Svc$$EnhancerBySpringCGLIB$$a1b2c3.pay(<generated>)", "com.acme.Svc$$EnhancerBySpringCGLIB.pay", "", 0, false},
		{"com.acme.Svc$$SpringCGLIB$$0.pay(<generated>)", "com.acme.Svc$$SpringCGLIB.pay", "", 0, false},
		{"com.acme.Svc$$FastClassBySpringCGLIB$$78ab0.invoke(<generated>)", "com.acme.Svc$$FastClassBySpringCGLIB.invoke", "", 0, false},
		{"com.acme.Svc.lambda$pay$3(Svc.java:9)", "com.acme.Svc.lambda$pay$3", "Svc.java", 9, false},
		{"com.acme.Svc.&lt;init&gt;(Svc.java:9)", "com.acme.Svc.<init>", "Svc.java", 9, false},
		{"com.acme.Svc.run(Svc.java)", "com.acme.Svc.run", "Svc.java", 0, false},
	}
	for _, tt := range tests {
		f, ok := parseJavaFrame([]byte(tt.text))
		if !ok || f.Func != tt.fn || f.File != tt.file || f.Line != tt.line || f.Native != tt.native {
			t.Errorf("%s:\n got %+v %v", tt.text, f, ok)
		}
	}
	for _, text := range []string{"", "(", "com.acme.Fo", "noon (local time)", "at.x(", ".("} {
		if f, ok := parseJavaFrame([]byte(text)); ok {
			t.Errorf("%q is no frame, got %+v", text, f)
		}
	}
}
