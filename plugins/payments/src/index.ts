/** The plugin payments: checks refunds and charges at payment providers. */
import { definePlugin, defineVerifier, Type } from '@claimcheck/core/plugin'
import { chargeProfile } from './charge.ts'
import { normalizePayment } from './fields.ts'
import { refundProfile } from './refund.ts'
import { STRIPE_API } from './stripe/api.ts'
import { checkCharge } from './stripe/charge.ts'
import { connectionType as stripe } from './stripe/connection.ts'
import { checkRefund } from './stripe/refund.ts'

const refund = defineVerifier({
  profile: refundProfile,
  providers: [stripe.provider],
  limits: { requests: 6 },
  normalize: normalizePayment,
  check: checkRefund,
})

const charge = defineVerifier({
  profile: chargeProfile,
  providers: [stripe.provider],
  limits: { requests: 4 },
  normalize: normalizePayment,
  check: checkCharge,
})

export default definePlugin({
  name: 'payments',
  api: 3,
  manifest: { hosts: [new URL(STRIPE_API).host] },
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({ verifiers: [refund, charge], connections: [stripe] }),
})
