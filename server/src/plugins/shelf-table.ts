/** The packages of verifiers that an operator has to name: made by `npm run action-pages`. */
export const SHELF = [
  {
    package: '@claimcheck/plugin-calendar',
    connections: ['CalDAV', 'Google Calendar'],
    actions: [
      {
        action: 'calendar.event.create',
        title: 'Calendar event',
      },
    ],
  },
  {
    package: '@claimcheck/plugin-chain',
    connections: ['EVM chain'],
    actions: [
      {
        action: 'chain.transaction.confirm',
        title: 'Transaction on a chain',
      },
    ],
  },
  {
    package: '@claimcheck/plugin-chat',
    connections: ['Slack', 'Discord', 'Mattermost'],
    actions: [
      {
        action: 'chat.message.post',
        title: 'Message',
      },
    ],
  },
  {
    package: '@claimcheck/plugin-container',
    connections: ['Container registry'],
    actions: [
      {
        action: 'container.image.push',
        title: 'Push of a container image',
      },
    ],
  },
  {
    package: '@claimcheck/plugin-database',
    connections: ['PostgreSQL', 'MySQL and MariaDB'],
    actions: [
      {
        action: 'database.row.exists',
        title: 'Row of a database',
      },
    ],
  },
  {
    package: '@claimcheck/plugin-deploy',
    connections: ['Kubernetes', 'Vercel', 'Version endpoint'],
    actions: [
      {
        action: 'deploy.revision.live',
        title: 'Live revision',
      },
      {
        action: 'deploy.version.answers',
        title: 'Version that an endpoint answers',
      },
    ],
  },
  {
    package: '@claimcheck/plugin-mail',
    connections: ['Mailbox (IMAP)'],
    actions: [
      {
        action: 'mail.message.send',
        title: 'Sent message',
      },
    ],
  },
  {
    package: '@claimcheck/plugin-objects',
    connections: ['S3 and compatible'],
    actions: [
      {
        action: 'storage.object.put',
        title: 'Upload of an object',
      },
    ],
  },
  {
    package: '@claimcheck/plugin-payments',
    connections: ['Stripe'],
    actions: [
      {
        action: 'payment.refund.succeed',
        title: 'Refund',
      },
      {
        action: 'payment.charge.succeed',
        title: 'Charge',
      },
    ],
  },
  {
    package: '@claimcheck/plugin-tickets',
    connections: ['Jira', 'Linear', 'Redmine'],
    actions: [
      {
        action: 'tracker.issue.transition',
        title: 'Move of an issue',
      },
    ],
  },
]
