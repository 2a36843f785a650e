/** Reads JSON that may be damaged. */
import type { JsonValue } from '@claimcheck/core/rules'

/** Undefined when the text is not JSON. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
