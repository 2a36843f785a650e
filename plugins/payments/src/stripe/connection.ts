/** The connection of a workspace to a Stripe account in one mode, and a first read that tells whether its key works. */
import { DestinationError, defineConnectionType, type Static, secret, Type } from '@claimcheck/core/plugin'
import { accountOf, identityOf, openStripe, STRIPE_API } from './api.ts'

const accountId = (title: string, description: string) =>
  Type.String({
    title,
    pattern: '^acct_[A-Za-z0-9]+$',
    maxLength: 64,
    'x-pattern-help': 'enter the id of the account, which begins with acct_',
    description,
    examples: ['acct_1Nv0FGQ9RKHgCVdK'],
  })

const Options = Type.Object(
  {
    api_key: secret({
      title: 'Key',
      description: 'A restricted key, which begins with rk_live_ or rk_test_.',
      maxLength: 255,
    }),
    account: accountId('Account', 'The account to which the key belongs.'),
    mode: Type.Union([Type.Literal('live'), Type.Literal('test')], {
      title: 'Mode',
      description: 'The mode of the key: live or test.',
      examples: ['live'],
    }),
    connected_account: Type.Optional(
      accountId('Connected account', 'The connected account that is to be read, with the key of its platform.'),
    ),
  },
  { additionalProperties: false },
)

export type Options = Static<typeof Options>

const HELP = `Make a restricted key in Stripe's Dashboard, under Developers, API keys: Read for Charges and Refunds, Read for the account where the
Dashboard offers it, None for everything else. A key that may not read its account proves no absence. For a connected account give the same
rights under Connect.`

const RIGHTS =
  'Stripe does not tell what the key may do: make sure that it is a restricted key that only reads, not a secret key.'
const NO_ACCOUNT = 'The key may not read its account: what is missing or differs then stays unverifiable.'

export const connectionType = defineConnectionType<typeof Options>({
  provider: 'stripe',
  title: 'Stripe',
  options: Options,
  help: HELP,
  baseUrl: () => STRIPE_API,
  fits: (options, { target, params }) =>
    target === `stripe:${accountOf(options)}` && (params.mode ?? 'live') === options.mode,
  refusesHidden: true,
  identified: true,
  trial: {
    title: 'Charge or refund',
    description: 'One that is to be read through this connection, by its id.',
    example: 'ch_3MmlLrLkdIwHu7ix0snN0B15',
  },
  async probe(options, context) {
    const { target } = context
    if (target !== undefined && !/^(?:ch|py|re|pyr)_[A-Za-z0-9_]+$/.test(target))
      throw new DestinationError('unsupported_target')
    const stripe = openStripe(options, context)
    const told = await stripe.account()
    let id = target
    if (id !== undefined && /^(?:re|pyr)_/.test(id)) {
      const { value: refund } = await stripe.findRefund(id)
      if (!refund?.charge) throw new DestinationError('forbidden')
      id = refund.charge
    }
    if (id !== undefined && !(await stripe.findCharge(id)).value) throw new DestinationError('forbidden')
    const mode = id === undefined ? await stripe.newestMode() : options.mode
    if (mode !== undefined && mode !== options.mode) throw new DestinationError('misconfigured')
    return {
      proves: id === undefined ? 'reached' : 'works',
      scopes: [],
      warnings: [RIGHTS, ...(told.isShown ? [] : [NO_ACCOUNT])],
      identity: mode && identityOf(told, mode),
    }
  },
})
