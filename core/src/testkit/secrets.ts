/** Finds a secret in what a plugin gives out, in its own form and in the usual encodings. */
import { inspect } from 'node:util'

/** A shorter one could stand anywhere by chance. */
export const SHORTEST_SECRET = 12

/** @returns in which form; undefined when it is not there */
export function findSecret(text: string, secret: string): string | undefined {
  const lower = text.toLowerCase()
  return formsOf(secret).find(([, form, anyCase]) =>
    anyCase ? lower.includes(form.toLowerCase()) : text.includes(form),
  )?.[0]
}

type Form = readonly [name: string, text: string, anyCase?: boolean]

function formsOf(secret: string): readonly Form[] {
  const bytes = Buffer.from(secret)
  return [
    ['in clear', secret],
    ['reversed', [...secret].reverse().join('')],
    ['in hexadecimal', bytes.toString('hex'), true],
    ['percent-encoded', [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''), true],
    ['percent-encoded', encodeURIComponent(secret)],
    ...[0, 1, 2].flatMap((shift): Form[] => {
      const part = alignedBase64(bytes, shift)
      return [
        ['in base64', part],
        ['in base64url', part.replaceAll('+', '-').replaceAll('/', '_')],
      ]
    }),
  ]
}

/** The characters of base64 that only the secret decides, where `shift` bytes stand before it. */
function alignedBase64(bytes: Buffer, shift: number): string {
  const whole = Buffer.concat([Buffer.alloc(shift), bytes])
  const text = whole.toString('base64').replace(/=+$/, '')
  const from = [0, 2, 3][shift]!
  const rest = whole.length % 3
  return text.slice(from, rest === 0 ? text.length : text.length - 1)
}

/** Everything that a thrown value or a log's fields would show, however deep. */
export function wholeText(value: unknown): string {
  const text = inspect(value, {
    depth: 12,
    breakLength: Number.POSITIVE_INFINITY,
    maxStringLength: Number.POSITIVE_INFINITY,
    maxArrayLength: Number.POSITIVE_INFINITY,
    getters: true,
  })
  return text
}
