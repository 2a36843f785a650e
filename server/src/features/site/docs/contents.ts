/** The chapters and pages of the documentation, in the order in which they are read. */

/** A page that is made from a file of the repository. */
interface FilePage {
  /** The page's path below `/docs/`. */
  readonly path: string
  /** The file's path in the repository, to which its links are relative. */
  readonly file: string
}

/** Pages that are made when they are first asked for, from what the installation offers. */
type Made = 'actions' | 'api'

export interface Chapter {
  readonly title: string
  /** A sentence that tells what readers find in it. */
  readonly about: string
  readonly pages: readonly (FilePage | Made)[]
}

export const CHAPTERS: readonly Chapter[] = [
  {
    title: 'Start',
    about: 'From nothing to a receipt, and what the receipt says.',
    pages: [
      own('quickstart'),
      own('concepts'),
      own('command-line'),
      own('github-action'),
      own('git-hook'),
      own('coding-agents'),
      own('mcp'),
      own('checking-a-receipt'),
      own('evidence'),
    ],
  },
  {
    title: 'Actions',
    about: 'What an agent can claim here, made from the loaded plugins; and what else there is.',
    pages: ['actions', own('verifiers')],
  },
  {
    title: 'API',
    about: 'Every endpoint with an example, every error with what to do.',
    pages: [
      'api',
      { path: 'typescript', file: 'core/client/README.md' },
      { path: 'python', file: 'core/python/README.md' },
      own('errors'),
      own('events'),
      own('webhooks'),
      own('alerts'),
      own('keys'),
      own('oauth'),
    ],
  },
  {
    title: 'Self-hosting',
    about: 'How to run Claimcheck for others, on one machine or on many.',
    pages: [
      'self-hosting',
      'containers',
      'proxy',
      'upgrade',
      'security',
      'asvs',
      'configuration',
      'commands',
      'console',
      'hints',
      'plugins',
      'requests',
      'anchors',
      'postgres',
      'scaling',
      'durability',
      'backup',
      'logs',
      'secret-keys',
      'audit-trail',
      'erasure',
      'monitoring',
    ].map(own),
  },
  {
    title: 'Building',
    about: 'Teach Claimcheck a new destination, or use its rules in your own program.',
    pages: [
      { path: 'writing-a-verifier', file: 'plugins/README.md' },
      own('credential-schemes'),
      { path: 'library', file: 'core/README.md' },
      ...['glossary', 'limits', 'benchmark'].map(own),
      { path: 'changelog', file: 'CHANGELOG.md' },
    ],
  },
]

function own(path: string): FilePage {
  return { path, file: `server/docs/${path}.md` }
}
