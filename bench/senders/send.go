// Sends captures with net/http: `go run send.go URL COUNT BYTES`.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
)

func main() {
	count, _ := strconv.Atoi(os.Args[2])
	size, _ := strconv.Atoi(os.Args[3])
	body := `{"data":"` + strings.Repeat("x", size) + `"}`
	for nth := 0; nth < count; nth++ {
		response, err := http.Post(os.Args[1], "application/json", strings.NewReader(body))
		if err != nil {
			log.Fatal(err)
		}
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if response.StatusCode != 200 {
			log.Fatal("A capture was answered with ", response.StatusCode)
		}
	}
}
