/** The main job on real input: which country is an IPv4 address in? */
package pando.bench.demo;
