// What ordinary programs do with the kernel; prints "fine" when all of it works.
package main

import (
	"fmt"
	"net"
	"os/exec"
	"sync"
)

func main() {
	var group sync.WaitGroup
	for range make([]int, 50) {
		group.Add(1)
		go func() { defer group.Done() }()
	}
	group.Wait()
	if out, err := exec.Command("sh", "-c", "echo hi").Output(); err != nil || string(out) != "hi\n" {
		panic(fmt.Sprint(string(out), err))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	if _, err := net.Dial("tcp", listener.Addr().String()); err != nil {
		panic(err)
	}
	fmt.Println("fine")
}
