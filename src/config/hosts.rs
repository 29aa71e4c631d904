//! `http.allowed_hosts`: the host names of the service.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::net::{IpAddr, SocketAddrV4};
use std::str::FromStr;
use url::Host;

/// `host` or `host:port`, as in `Host` and `Origin`, normalised: letters are lower case, and IP addresses are
/// parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority {
    host: Host,
    /// The port, if one is given.
    pub port: Option<u16>,
}

/// The text is not `host` or `host:port`.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("not a host name or address with or without a port")]
pub struct NoAuthority;

impl FromStr for Authority {
    type Err = NoAuthority;

    fn from_str(text: &str) -> Result<Self, NoAuthority> {
        // As most clients of a local service send it; names take the way of URLs, which is long.
        if let Ok(address) = text.parse::<SocketAddrV4>() {
            let port = Some(address.port());
            return Ok(Self {
                port,
                ..Self::of_address((*address.ip()).into())
            });
        }
        if let Ok(address) = text.parse() {
            return Ok(Self::of_address(address));
        }
        // The colons of an IPv6 address are in brackets.
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port),
            _ => (text, ""),
        };
        // Neither percent-encoding nor letters other than ASCII, which the parser of URLs would accept.
        let is_sane = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        let is_bracketed = host.starts_with('[') && host.ends_with(']');
        if !is_bracketed && !host.bytes().all(is_sane) {
            return Err(NoAuthority);
        }
        // A trailing dot (the root) does not change the name.
        let host = Host::parse(host.strip_suffix('.').unwrap_or(host)).map_err(|_| NoAuthority)?;
        let port = match port {
            // An empty port after the colon counts as none (RFC 3986, 3.2.3).
            "" => None,
            digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(digits.parse().map_err(|_| NoAuthority)?)
            }
            _ => return Err(NoAuthority),
        };
        Ok(match host {
            Host::Ipv6(address) => Self {
                port,
                ..Self::of_address(address.into())
            },
            host => Self { host, port },
        })
    }
}

impl Authority {
    /// An IP address.
    #[must_use]
    pub fn of_address(address: IpAddr) -> Self {
        let host = match address.to_canonical() {
            IpAddr::V4(address) => Host::Ipv4(address),
            IpAddr::V6(address) => Host::Ipv6(address),
        };
        Self { host, port: None }
    }

    /// Whether it is a loopback name or address (RFC 6761 for `localhost` and all names below it).
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        match &self.host {
            Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address.is_loopback(),
        }
    }

    /// Whether `other` has the same host, and the same port if this has one.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.host == other.host && self.port.is_none_or(|port| other.port == Some(port))
    }

    /// Whether both have the same host.
    #[must_use]
    pub fn same_host(&self, other: &Self) -> bool {
        self.host == other.host
    }
}

/// A list as the file has it, or a text as the environment does.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "must be a list of host names, or a text with commas between them"
)]
enum Written {
    List(Vec<String>),
    Text(String),
}

/// Reads a list from the file, or a comma-separated text from the environment.
pub(super) fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Authority>, D::Error> {
    let hosts = match Written::deserialize(deserializer)? {
        Written::List(list) => list,
        Written::Text(text) => {
            let hosts = text.split(',').map(str::trim).filter(|host| !host.is_empty());
            hosts.map(str::to_owned).collect()
        }
    };
    let read = |host: &String| {
        host.parse::<Authority>().map_err(|NoAuthority| {
            D::Error::custom(format!(
                "each must be a host name or address, such as memory.example.org, with or without a port \
                 (memory.example.org:8080), without scheme or path, not {host:?}"
            ))
        })
    };
    hosts.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Authority {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn one_host_has_one_form() {
        for (a, b) in [
            ("Example.ORG", "example.org"),
            ("example.org.", "example.org"),
            ("example.org:", "example.org"),
            ("[::1]:80", "[0:0::1]:80"),
            ("[::ffff:127.0.0.1]", "127.0.0.1"),
            ("::1", "[::1]"),
        ] {
            assert_eq!(read(a), read(b), "{a} {b}");
        }
        assert_eq!(read("example.org:8080").port, Some(8080));
        assert_ne!(read("example.org:8080"), read("example.org"));
    }

    #[test]
    fn what_is_no_host_is_refused() {
        let none =
            "|:80|.|a b|a/b|user@a|a:b|a:70000|a:-1|a:+1|[::1|[::1]x|[::1].:80|[a]|ä.de|a,b|a:1:2|http://a";
        for text in none.split('|') {
            assert_eq!(text.parse::<Authority>(), Err(NoAuthority), "{text:?}");
        }
    }

    #[test]
    fn loopback_has_many_spellings_and_no_lookalikes() {
        let all = "localhost LOCALHOST:8080 localhost. x.localhost 127.0.0.1 127.8.9.1:80 [::1]:8080 \
                [::ffff:127.0.0.1]:1";
        for text in all.split(' ') {
            assert!(read(text).is_loopback(), "{text}");
        }
        let all = "localhost.example.org notlocalhost 127.0.0.1.example.org 128.0.0.1 0.0.0.0 [::] [::2] \
                1.127.0.0";
        for text in all.split(' ') {
            assert!(!read(text).is_loopback(), "{text}");
        }
    }

    #[test]
    fn a_host_without_a_port_covers_every_port() {
        assert!(read("a.b").covers(&read("A.b:8080")) && read("a.b").covers(&read("a.b")));
        assert!(read("a.b:80").covers(&read("a.b:80")));
        assert!(!read("a.b:80").covers(&read("a.b:81")) && !read("a.b:80").covers(&read("a.b")));
        assert!(!read("a.b").covers(&read("x.a.b")));
    }
}
