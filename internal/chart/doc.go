// Package chart draws curves as SVG in the style of package style: for the pages of runs and studies, and
// for the server's.
package chart
