/** Stripe's published description of the objects that the stand-in answers with (stripe/openapi, MIT): types, values, and what is required. */

/** Types of a field, with `null` where it may be; `any` of one that is, or expands to, another object. */
export interface Published {
  readonly required: readonly string[]
  readonly fields: Readonly<Record<string, string>>
  readonly values?: Readonly<Record<string, readonly string[]>>
}

export const PUBLISHED: Readonly<Record<string, Published>> = {
  charge: {
    required: [
      'amount',
      'amount_captured',
      'amount_refunded',
      'billing_details',
      'captured',
      'created',
      'currency',
      'disputed',
      'id',
      'livemode',
      'metadata',
      'object',
      'paid',
      'refunded',
      'status',
    ],
    fields: {
      amount: 'integer',
      amount_captured: 'integer',
      amount_refunded: 'integer',
      application: 'string null',
      application_fee: 'string null',
      application_fee_amount: 'integer null',
      balance_transaction: 'string null',
      billing_details: 'any',
      calculated_statement_descriptor: 'string null',
      captured: 'boolean',
      created: 'integer',
      currency: 'string',
      customer: 'string null',
      description: 'string null',
      disputed: 'boolean',
      failure_balance_transaction: 'string null',
      failure_code: 'string null',
      failure_message: 'string null',
      fraud_details: 'any null',
      id: 'string',
      invoice: 'string null',
      livemode: 'boolean',
      metadata: 'object',
      object: 'string',
      on_behalf_of: 'string null',
      outcome: 'any null',
      paid: 'boolean',
      payment_intent: 'string null',
      payment_method: 'string null',
      payment_method_details: 'any null',
      radar_options: 'any',
      receipt_email: 'string null',
      receipt_number: 'string null',
      receipt_url: 'string null',
      refunded: 'boolean',
      refunds: 'object null',
      review: 'string null',
      shipping: 'any null',
      source_transfer: 'string null',
      statement_descriptor: 'string null',
      statement_descriptor_suffix: 'string null',
      status: 'string',
      transfer: 'string',
      transfer_data: 'any null',
      transfer_group: 'string null',
    },
    values: {
      object: ['charge'],
      status: ['failed', 'pending', 'succeeded'],
    },
  },
  refund: {
    required: ['amount', 'created', 'currency', 'id', 'object'],
    fields: {
      amount: 'integer',
      balance_transaction: 'string null',
      charge: 'any null',
      created: 'integer',
      currency: 'string',
      description: 'string',
      failure_balance_transaction: 'string',
      failure_reason: 'string',
      id: 'string',
      instructions_email: 'string',
      metadata: 'object null',
      next_action: 'any',
      object: 'string',
      payment_intent: 'string null',
      reason: 'string null',
      receipt_number: 'string null',
      source_transfer_reversal: 'string null',
      status: 'string null',
      transfer_reversal: 'string null',
    },
    values: {
      object: ['refund'],
      reason: ['duplicate', 'expired_uncaptured_charge', 'fraudulent', 'requested_by_customer'],
    },
  },
  account: {
    required: ['id', 'object'],
    fields: {
      business_profile: 'any null',
      business_type: 'string null',
      capabilities: 'any',
      charges_enabled: 'boolean',
      company: 'any',
      controller: 'any',
      country: 'string',
      created: 'integer',
      default_currency: 'string',
      details_submitted: 'boolean',
      email: 'string null',
      external_accounts: 'object',
      future_requirements: 'any',
      id: 'string',
      individual: 'any',
      metadata: 'object',
      object: 'string',
      payouts_enabled: 'boolean',
      requirements: 'any',
      settings: 'any null',
      tos_acceptance: 'any',
      type: 'string',
    },
    values: {
      business_type: ['company', 'government_entity', 'individual', 'non_profit'],
      object: ['account'],
      type: ['custom', 'express', 'standard'],
    },
  },
  error: {
    required: ['type'],
    fields: {
      charge: 'string',
      code: 'string',
      decline_code: 'string',
      doc_url: 'string',
      message: 'string',
      param: 'string',
      payment_intent: 'any',
      payment_method: 'any',
      payment_method_type: 'string',
      request_log_url: 'string',
      setup_intent: 'any',
      source: 'any',
      type: 'string',
    },
    values: {
      type: ['api_error', 'card_error', 'idempotency_error', 'invalid_request_error'],
    },
  },
}

/** Lists where an object is not as published. */
export function faultsOf(name: string, object: Readonly<Record<string, unknown>>): readonly string[] {
  const { required, fields, values = {} } = PUBLISHED[name]!
  const missing = required.filter((field) => object[field] === undefined).map((field) => `${name}.${field} is missing`)
  const wrong = Object.entries(object).flatMap(([field, value]) => {
    const types = fields[field]
    if (types === undefined) return [`${name}.${field} is not published`]
    const isValue = value === null || (values[field]?.includes(value as string) ?? true)
    return isOneOf(types, value) && isValue ? [] : [`${name}.${field} is ${JSON.stringify(value)}`]
  })
  return [...missing, ...wrong]
}

function isOneOf(types: string, value: unknown): boolean {
  const type = Number.isInteger(value) ? 'integer' : typeof value
  return types.split(' ').some((one) => one === 'any' || one === type || (one === 'null' && value === null))
}
