/** Bad plugins that give a credential away which the destination repeats. */
import { DestinationError, type Plugin, Type } from '@claimcheck/core/plugin'
import { checksBy, type Look, parts, profile, ticketPlugin } from './good.ts'
import type { BadPlugin } from './row.ts'

/** Reads the ticket once more, and does something with what was repeated. */
function givesAway(give: (repeated: string, look: Look) => unknown): () => Plugin {
  return checksBy(async (look, all) => {
    const response = await look.context.fetch(look.project, { auth: look.auth })
    const repeated = `${response.headers.get('x-debug') ?? ''} ${await response.text()}`
    await give(repeated, look)
    return parts.check(look, all)
  })
}

/** Has a fact for it that its profile allows. */
function inFact(encode: (header: string) => string): () => Plugin {
  const trace = Type.Optional(Type.String({ title: 'Trace', pattern: '^[!-~]{0,400}$', maxLength: 400 }))
  const facts = Type.Object({ ...profile.facts.properties, trace }, { additionalProperties: false })
  return () =>
    ticketPlugin({
      profile: { facts },
      parts: {
        async check(look, all) {
          const { headers } = await look.context.fetch(look.project, { auth: look.auth })
          const seen = await parts.check(look, all)
          const header = headers.get('x-debug')
          return header === null
            ? seen
            : { ...seen, facts: { ...seen.facts, trace: encode(header.split(' ').at(-1)!) } }
        },
      },
    })
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

export const LEAKS: readonly BadPlugin[] = [
  ['secrets.in-facts', 'puts a secret into facts', inFact((text) => text)],
  ['secrets.in-facts', 'puts a secret into facts as base64', inFact(base64)],
  ['secrets.in-facts', 'puts a secret into facts as base64 behind a byte', inFact((text) => base64(`x${text}y`))],
  [
    'secrets.in-facts',
    'puts a secret into facts as base64url behind two bytes',
    inFact((text) => Buffer.from(`xy${text}`).toString('base64url')),
  ],
  [
    'secrets.in-facts',
    'puts a secret into facts in hexadecimal',
    inFact((text) => Buffer.from(text).toString('hex').toUpperCase()),
  ],
  ['secrets.in-facts', 'puts a secret into facts in reverse', inFact((text) => [...text].reverse().join(''))],
  [
    'secrets.in-facts',
    'puts a secret into facts percent-encoded',
    inFact((text) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join('')),
  ],
  [
    'secrets.in-logs',
    'logs whole answers',
    givesAway((repeated, { context }) => context.logger.info({ answer: { body: repeated } }, 'read')),
  ],
  [
    'secrets.in-logs',
    'logs headers as base64',
    givesAway((repeated, { context }) => context.logger.info({ trace: base64(repeated) }, 'read')),
  ],
  [
    'secrets.in-errors',
    'repeats an answer in the text of an error',
    givesAway((repeated) => {
      if (repeated.includes('was not accepted')) throw new Error(`the tracker says ${repeated}`)
    }),
  ],
  [
    'secrets.in-errors',
    'has an answer as the cause of an error',
    givesAway((repeated) => {
      if (repeated.includes('was not accepted')) {
        throw new DestinationError('unavailable', { cause: { answer: [repeated] } })
      }
    }),
  ],
]
