/** The private key of the account, from a file or the environment. Nothing that is said about a wrong one shows any of it. */
import { readFileSync, statSync } from 'node:fs'
import { type Account, createAccount } from './account.ts'

export interface KeySource {
  readonly key_file?: string
  readonly key_env?: string
}

type KeyReading = { readonly account: Account; readonly warnings: readonly string[] } | { readonly problem: string }

const KEY = /^(?:0x)?([0-9a-fA-F]{64})$/
const GROUP_OR_OTHERS = 0o077

export function readKey(
  { key_file, key_env }: KeySource,
  env: Readonly<Record<string, string | undefined>>,
): KeyReading {
  if (key_file !== undefined && key_env === undefined) return readFile(key_file)
  if (key_env === undefined || key_file !== undefined) {
    return { problem: 'the key comes from key_file or from key_env: name one of them' }
  }
  const text = env[key_env]
  return text === undefined ? { problem: `key_env: the environment has no ${key_env}` } : parse(text, 'key_env', [])
}

function readFile(path: string): KeyReading {
  try {
    const isOpen = (statSync(path).mode & GROUP_OR_OTHERS) !== 0
    const warnings = isOpen ? ['key_file can be read by others than its owner'] : []
    return parse(readFileSync(path, 'utf8'), 'key_file', warnings)
  } catch (error) {
    // Without its name: it may be a key that was written there by mistake.
    return { problem: `key_file cannot be read: ${(error as NodeJS.ErrnoException).code}` }
  }
}

function parse(text: string, option: keyof KeySource, warnings: readonly string[]): KeyReading {
  const digits = KEY.exec(text.trim())?.[1]
  const account = digits === undefined ? undefined : createAccount(`0x${digits}`)
  return account ? { account, warnings } : { problem: `${option} is not a private key: 32 bytes in hex` }
}
