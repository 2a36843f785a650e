/**
 * The configuration file of a first start in an empty folder, as `claimcheck serve` makes one: it names the plugins that came with the
 * server, because without plugins nothing can be claimed.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigError, DEFAULT_FILE, dataDirOf } from './config.ts'
import type { Env } from './section.ts'

const PLUGINS = ['codehost', 'http', 'registry'].map((name) => ({ use: `@claimcheck/plugin-${name}` }))

export const FIRST_CONFIG = `${JSON.stringify({ plugins: PLUGINS }, undefined, 2)}\n`

/** Tells whether nothing says yet how the service is configured: it did not run, and no variable names its file or its data. */
export function isFirstStart(env: Env, cwd: string): boolean {
  return !env.CONFIG && !env.DATABASE_URL && !existsSync(dataDirOf(env, cwd))
}

/**
 * Writes the configuration file of a first start. Writes nothing where there is a file, where CONFIG names one, and where the service ran before or
 * keeps its data elsewhere: whoever runs it without plugins, or from a folder that cannot be written, has a reason.
 * @returns the name of the file, if it was written
 * @throws ConfigError where the disk is full
 */
export function writeFirstConfig(env: Env, cwd: string): string | undefined {
  if (!isFirstStart(env, cwd)) return undefined
  const file = resolve(cwd, DEFAULT_FILE)
  try {
    writeNewConfig(file, FIRST_CONFIG)
    return DEFAULT_FILE
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ENOSPC' && code !== 'EDQUOT') return undefined
    // After a start without the file there would never be plugins.
    throw new ConfigError([`${DEFAULT_FILE} cannot be written: ${message}`])
  }
}

/** Writes a configuration file that is not there. A part of one would end every later start, and is removed. @throws Error of the file system */
export function writeNewConfig(file: string, content: string): void {
  try {
    writeFileSync(file, content, { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') rmSync(file, { force: true })
    throw error
  }
}
