/**
 * Keeps the description that a plugin gave when it last started, in a file: while it does not start, its actions stay known, and its claims wait. It
 * holds for the same code, options and version of the service alone.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject, type JsonValue } from '@claimcheck/core/rules'
import { readPrivateFile, replaceFile } from '../../base/files.ts'
import { sha256Text } from '../../base/sha256.ts'
import { VERSION } from '../../base/version.ts'
import type { PluginPackage } from '../package.ts'
import type { Described } from './messages.ts'

export interface Description {
  readonly plugin: Described
  /** The result of the plugin's setup. */
  readonly made: JsonValue
}

export type KeptDescription = ReturnType<typeof keptDescription>

const FOLDER = 'plugins'

/**
 * Opens the kept description of a plugin.
 * @param given the options, which may hold secrets: the file has a digest of them
 */
export function keptDescription(
  dataDir: string,
  { name, entry, codeHash }: Pick<PluginPackage, 'name' | 'entry' | 'codeHash'>,
  given: Readonly<Record<string, unknown>>,
) {
  const folder = join(dataDir, FOLDER)
  // Each plugin has one file: the description of older code is replaced when the newer one starts.
  const path = join(folder, `${sha256Text(name ?? entry).slice(0, 32)}.json`)
  const of = sha256Text(JSON.stringify([codeHash, VERSION, given]))

  function read(): Description | undefined {
    try {
      const kept = JSON.parse(readPrivateFile(path)) as JsonValue
      if (!isJsonObject(kept) || kept.of !== of || !isJsonObject(kept.plugin)) return undefined
      return { plugin: kept.plugin as unknown as Described, made: kept.made ?? null }
    } catch {
      return undefined
    }
  }

  return {
    /** Reads the description; undefined if none is kept that can be read. */
    read,
    /**
     * Writes the description.
     * @throws Error
     */
    write(description: Description): void {
      const content = JSON.stringify({ of, ...description })
      if (JSON.stringify({ of, ...read() }) === content) return
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      replaceFile(path, content)
    },
  }
}
