// What ordinary programs do with the kernel; prints "fine" when all of it works.
use std::{net, process::Command, thread};

fn main() {
    let sum: i32 = (0..8).map(|n| thread::spawn(move || n)).map(|t| t.join().unwrap()).sum();
    assert_eq!(sum, 28);
    assert_eq!(Command::new("sh").args(["-c", "echo hi"]).output().unwrap().stdout, b"hi\n");
    let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
    net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    println!("fine");
}
