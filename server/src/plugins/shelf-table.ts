/** The packages of verifiers that an operator has to name: made by `npm run action-pages`. */
export const SHELF = [
  {
    package: '@claimcheck/plugin-chain',
    connections: ['EVM chain'],
    actions: [
      {
        action: 'chain.transaction.confirm',
        summary: 'A transaction succeeded in a block that the chain calls final.',
      },
    ],
  },
  {
    package: '@claimcheck/plugin-chat',
    connections: ['Slack', 'Discord', 'Mattermost'],
    actions: [
      {
        action: 'chat.message.post',
        summary: 'A message was posted to a channel.',
      },
    ],
  },
  {
    package: '@claimcheck/plugin-container',
    connections: ['Container registry'],
    actions: [
      {
        action: 'container.image.push',
        summary: 'The tag of an image is the digest that the claim names.',
      },
    ],
  },
  {
    package: '@claimcheck/plugin-objects',
    connections: ['S3 and compatible'],
    actions: [
      {
        action: 'storage.object.put',
        summary: 'An object was put to a key of a bucket.',
      },
    ],
  },
  {
    package: '@claimcheck/plugin-payments',
    connections: ['Stripe'],
    actions: [
      {
        action: 'payment.refund.succeed',
        summary: 'A refund succeeded, with its amount.',
      },
      {
        action: 'payment.charge.succeed',
        summary: 'A charge succeeded and was captured, with its amount.',
      },
    ],
  },
]
