/** Reads what a process of a plugin sends: its members may be anything, and what has another form is never used. */
import { isJsonObject, type JsonValue } from '@claimcheck/core/rules'
import type { FromPlugin } from './messages.ts'

/**
 * @param sent how many messages it was sent: it cannot be at another one
 * @returns undefined for what is no message
 */
export function readMessage(message: JsonValue, sent: number): FromPlugin | undefined {
  if (!isJsonObject(message)) return undefined
  const { k, n, id, run, args, method, text } = message
  switch (k) {
    case 'at':
    case 'idle':
      return isCount(n) && n <= sent ? (message as unknown as FromPlugin) : undefined
    case 'ok':
    case 'err':
      return isCount(id) ? (message as unknown as FromPlugin) : undefined
    case 'call':
      return isCount(id) && isCount(run) && typeof method === 'string' && Array.isArray(args)
        ? (message as unknown as FromPlugin)
        : undefined
    case 'log':
      return typeof text === 'string' ? (message as unknown as FromPlugin) : undefined
    case 'ready':
      return message as unknown as FromPlugin
    default:
      return undefined
  }
}

function isCount(value: JsonValue | undefined): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
