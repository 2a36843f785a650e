/** The command line that pages offer to people who check by themselves, and to programs that speak MCP. */
import type { HostConfig } from '../config/config.ts'

export interface CommandLine {
  /** The beginning of the commands. */
  readonly program: string
  /** The place or tool that the commands need, to follow "on the command line, ". */
  readonly where: string
}

/**
 * Chooses the command line for pages. A package is named only where the operator names one: npm would fetch what anyone has registered under another
 * name.
 */
export function commandLineOf({ verifierPackage }: Pick<HostConfig, 'verifierPackage'>): CommandLine {
  return verifierPackage === undefined
    ? { program: './claimcheck', where: 'in a checkout of Claimcheck' }
    : { program: `npx ${verifierPackage}`, where: 'with Node.js' }
}

/** Matches the commands for people who have no installation. All others are for its operator. */
const FOR_EVERYONE = /(?:\.\/claimcheck|\bclaimcheck-cli)(?= (?:claim|claims|login|mcp|verify|audit-trail --check)\b)/g
/** Matches the settings of a client that starts a program by its path. */
const BY_PATH = /"command": "node",(\s+)"args": \["\/path\/to\/core\/cli\/bin\/claimcheck-cli\.js", /g

/**
 * Rewrites the commands of a page.
 * @param markdown a page with the commands of a checkout
 */
export function inCommandLineOf(markdown: string, config: Pick<HostConfig, 'verifierPackage'>): string {
  const { verifierPackage } = config
  if (verifierPackage === undefined) return markdown
  return markdown
    .replaceAll(FOR_EVERYONE, commandLineOf(config).program)
    .replaceAll(BY_PATH, `"command": "npx",$1"args": ["--yes", "${verifierPackage}", `)
}
