//go:build !linux

package cmd

func watchSteps() {}
