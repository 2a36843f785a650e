/** The fields and facts that claims of refunds and of charges share, at any provider. */
import { type Static, Type } from '@claimcheck/core/plugin'

export const MINUTE_MS = 60_000

/** The account that a target names, as Stripe writes it. */
const ACCOUNT = 'acct_[A-Za-z0-9]+'

export const target = Type.String({
  pattern: `^stripe:${ACCOUNT}$`,
  maxLength: 80,
  'x-pattern-help': 'write the provider before the id of the account: `stripe:acct_1Nv0FGQ9RKHgCVdK`',
  description:
    'The account in which the payment is, by the name of the provider and the id of the account. With Connect: the account that has the charge, for direct charges the connected one.',
  examples: ['stripe:acct_1Nv0FGQ9RKHgCVdK'],
})

export const amount = (description: string) =>
  Type.Integer({
    title: 'Amount',
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: `${description} In the smallest unit, as the provider writes it: 1000 is 10.00 USD, 1000 JPY, and 1.000 KWD.`,
    examples: [1000],
  })

export const currency = Type.String({
  title: 'Currency',
  pattern: '^[A-Za-z]{3}$',
  'x-pattern-help': 'enter the three letters of the currency',
  description: 'The currency of the amount, by ISO 4217.',
  examples: ['usd'],
})

export const mode = Type.Optional(
  Type.Union([Type.Literal('live'), Type.Literal('test')], {
    title: 'Mode',
    description: 'Whether money moved (`live`), or it was a test. When left out: `live`.',
    examples: ['live'],
  }),
)

export const idParam = (
  title: string,
  prefixes: string,
  { help, description, example }: Readonly<Record<string, string>>,
) =>
  Type.String({
    title,
    pattern: `^(?:${prefixes})_[A-Za-z0-9_]+$`,
    maxLength: 255,
    'x-pattern-help': help!,
    description: description!,
    examples: [example!],
  })

export const idFact = (title: string, prefixes: string, description: string) =>
  Type.Optional(Type.String({ title, pattern: `^(?:${prefixes})_[A-Za-z0-9_]+$`, maxLength: 255, description }))

export const wordFact = (title: string, description: string) =>
  Type.Optional(Type.String({ title, pattern: '^[a-z_]+$', maxLength: 64, description }))

export const countFact = (title: string, description: string) =>
  Type.Optional(Type.Integer({ title, minimum: 0, description }))

/** A fact that is given only where it holds. */
export const flag = (title: string, description: string) => Type.Optional(Type.Literal(true, { title, description }))

export const commonFacts = {
  account: Type.Optional(
    Type.String({
      title: 'Account',
      pattern: `^stripe:${ACCOUNT}$`,
      maxLength: 80,
      description: 'The account to which the credentials belong, as the provider tells it.',
    }),
  ),
  mode: Type.Optional(
    Type.Union([Type.Literal('live'), Type.Literal('test')], {
      title: 'Mode',
      description: 'Whether the charge is one of live mode, as the provider tells it.',
    }),
  ),
  in_other_mode: flag(
    'In the other mode',
    'The provider has it in the other mode, test or live, than the claimed one.',
  ),
  created: Type.Optional(
    Type.String({
      title: 'Created',
      format: 'date-time',
      description: 'The time at which the provider made the object.',
    }),
  ),
  preexisting: flag('There before', 'It was made more than the tolerance before the claim.'),
}

/** The sentences for the facts that both actions have. */
export const commonWords = {
  mode: { test: 'It is in test mode: no money moved.' },
  in_other_mode: { true: 'The provider has it in the other mode, test or live, than the claimed one.' },
  preexisting: { true: 'It was made before the claim, at {created}: the claim may be about what was done earlier.' },
}

export const access = {
  permission: 'Reading charges, refunds and the account, by a restricted key.',
  anonymous: false,
}

type Payment = { currency: string; mode?: Static<typeof mode> }

/** Brings the currency and the mode into one form: Stripe writes currencies in lower case. */
export function normalizePayment<P extends Payment>({ target, params }: { target: string; params: P }) {
  return { target, params: { ...params, currency: params.currency.toLowerCase(), mode: params.mode ?? 'live' } }
}
