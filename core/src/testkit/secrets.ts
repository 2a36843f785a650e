/** Finds a secret in what a plugin gives out, in its own form and in the usual encodings. */
import { inspect } from 'node:util'

/** Length below which a text could stand anywhere by chance. */
export const SHORTEST_SECRET = 12

/** Searches a text for a secret in any form. @returns the form in which the text has it; undefined if it has none */
export function findSecret(text: string, secret: string): string | undefined {
  const lower = text.toLowerCase()
  return formsOf(secret).find(([, form, anyCase]) =>
    anyCase ? lower.includes(form.toLowerCase()) : text.includes(form),
  )?.[0]
}

type SecretForm = readonly [name: string, text: string, anyCase?: boolean]

function formsOf(secret: string): readonly SecretForm[] {
  const bytes = Buffer.from(secret)
  return [
    ['in clear', secret],
    ['reversed', [...secret].reverse().join('')],
    ['in hexadecimal', bytes.toString('hex'), true],
    ['percent-encoded', [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''), true],
    ['percent-encoded', encodeURIComponent(secret)],
    ...[0, 1, 2].flatMap((shift): SecretForm[] => {
      const part = alignedBase64(bytes, shift)
      return [
        ['in base64', part],
        ['in base64url', part.replaceAll('+', '-').replaceAll('/', '_')],
      ]
    }),
  ]
}

/** The base64 characters that depend on the secret alone if `shift` bytes stand before it. */
function alignedBase64(bytes: Buffer, shift: number): string {
  const whole = Buffer.concat([Buffer.alloc(shift), bytes])
  const text = whole.toString('base64').replace(/=+$/, '')
  const from = [0, 2, 3][shift]!
  const rest = whole.length % 3
  return text.slice(from, rest === 0 ? text.length : text.length - 1)
}

/** The text of a thrown value or of log fields, however deep. */
export function wholeText(value: unknown): string {
  return inspect(value, {
    depth: 12,
    breakLength: Number.POSITIVE_INFINITY,
    maxStringLength: Number.POSITIVE_INFINITY,
    maxArrayLength: Number.POSITIVE_INFINITY,
    getters: true,
  })
}
