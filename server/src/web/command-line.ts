/** The command line that pages offer to those who check by themselves, and to programs that speak MCP. */
import type { HostConfig } from '../config/config.ts'

export interface CommandLine {
  /** The beginning of its commands. */
  readonly program: string
  /** What it needs: to follow "on the command line, ". */
  readonly where: string
}

/** Names a package in commands only where the operator names one: npm would fetch what anyone has registered under another name. */
export function commandLineOf({ verifierPackage }: Pick<HostConfig, 'verifierPackage'>): CommandLine {
  return verifierPackage === undefined
    ? { program: './claimcheck', where: 'in a checkout of Claimcheck' }
    : { program: `npx ${verifierPackage}`, where: 'with Node.js' }
}

/** The commands of those who have no installation. All others are for its operator. */
const FOR_EVERYONE = /(?:\.\/claimcheck|\bclaimcheck-cli)(?= (?:claim|claims|login|mcp|verify|audit-trail --check)\b)/g
/** The settings of a client that starts a program by its path. */
const BY_PATH = /"command": "node",(\s+)"args": \["\/path\/to\/core\/cli\/bin\/claimcheck-cli\.js", /g

/** @param markdown a page, with the commands of a checkout */
export function inCommandLineOf(markdown: string, config: Pick<HostConfig, 'verifierPackage'>): string {
  const { verifierPackage } = config
  if (verifierPackage === undefined) return markdown
  return markdown
    .replaceAll(FOR_EVERYONE, commandLineOf(config).program)
    .replaceAll(BY_PATH, `"command": "npx",$1"args": ["--yes", "${verifierPackage}", `)
}
