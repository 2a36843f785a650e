/** Puts a connection's secrets in the places of their handles in what a check writes to a socket. */
import type { SecretValues } from '../contract/auth.ts'
import { DestinationError } from '../contract/destination-error.ts'
import { utf8 } from '../encoding.ts'
import { BreachError } from './breach.ts'

/** A secret with a line break would end one command and begin another. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const CONTROL = /[\u0000-\u001f\u007f]/

/**
 * Replaces the handles that stand as whole words in the bytes.
 * @throws BreachError for what is no bytes
 * @throws DestinationError `misconfigured` for a secret that no line can carry
 */
export function putSecrets(chunk: unknown, secrets: SecretValues): Uint8Array {
  if (!ArrayBuffer.isView(chunk)) throw new BreachError('what is written to a socket has to be bytes')
  const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  if (secrets.size === 0) return bytes
  const text = toText(bytes)
  const put = text.replace(handles(secrets), (handle) => {
    const secret = secrets.get(handle)!
    if (CONTROL.test(secret)) throw new DestinationError('misconfigured')
    return toText(utf8(secret))
  })
  return put === text ? bytes : Uint8Array.from(put, (character) => character.charCodeAt(0))
}

/** Whether a text holds a handle: what a stranger wrote must not get a secret written to a socket. */
export function hasHandle(text: string, secrets: SecretValues): boolean {
  return secrets.size > 0 && handles(secrets).test(text)
}

function handles(secrets: SecretValues): RegExp {
  const names = [...secrets.keys()].map((handle) => handle.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  // `secret:token` is not the beginning of `secret:token2`.
  return new RegExp(`(?:${names.join('|')})(?![A-Za-z0-9_])`, 'g')
}

/** One character for each byte, so that what is no text stays as it is. */
function toText(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}
