/** The chapters and pages of the documentation, in the order in which they are read. */

/** A page that is made from a file of the repository. */
interface FilePage {
  /** The page's path below `/docs/`. */
  readonly path: string
  /** The file's path in the repository, to which its links are relative. */
  readonly file: string
  /** Words by which people search for the page, and which are not its title's. */
  readonly keywords?: string
}

/** Pages that are made when they are first asked for, from what the installation offers. */
type Made = 'actions' | 'api'

export interface Chapter {
  readonly title: string
  /** A sentence that tells what readers find in it. */
  readonly about: string
  readonly pages: readonly (FilePage | Made)[]
}

/** Words by which people search for pages of the server, by the page's path. */
const KEYWORDS: Readonly<Record<string, string>> = {
  quickstart: 'first claim, get started, install, tutorial, example, hello world',
  concepts: 'verdicts: verified, late, mismatch, failed, unverifiable; how it works, deadline, tolerance, trust level',
  'checking-a-receipt': 'verify a receipt, fake receipt, trust, offline, tampered, proof, signature',
  evidence: 'what was read, facts, mismatch',
  'command-line': 'cli, terminal, sign in, log in',
  errors:
    'codes, connection refused, idempotency, quota, rate limit, 429, 401, 403, 404, unauthorized, forbidden, retry',
  keys: 'api key: create, revoke, rotate, expire, bind, bound agent; machine, secret',
  oauth: 'authorize, consent, refresh token, openid',
  webhooks: 'receiver, delivery, signature, callback',
  alerts: 'slack, discord, teams, mattermost, chat',
  'git-hook': 'pre-push, pre-commit',
  'audit-trail': 'audit log, history, who signed in, who changed it',
  'self-hosting': 'run it yourself, requirements, production, deploy, on premises',
  containers: 'docker, podman, kubernetes, compose, image',
  proxy: 'nginx, traefik, caddy, haproxy, reverse proxy, tls, https, certificate, ingress',
  upgrade: 'update, new version, migrate, downgrade',
  configuration: 'settings, environment variables, rate limit, quota, smtp, email, notification',
  commands: 'operator, administrator, add a connection, self-hosted gitlab, delete a workspace, revoke a key',
  console:
    'account, forgot password, reset, single sign-on, SSO, two-factor, 2fa, invite a member, role, owner, session, expired token of a connection, delete a workspace, passkey',
  postgres: 'postgresql, database, replica, pgbouncer',
  scaling: 'several hosts, high availability, failover, load balancer, cluster',
  backup: 'back up, restore, disaster recovery, snapshot',
  logs: 'transparency log, merkle tree, end a log',
  erasure: 'gdpr, privacy, delete personal data, retention',
  monitoring: 'alert, notification, metrics, prometheus, grafana, dashboard, health, tracing, opentelemetry',
  anchors: 'blockchain, ethereum, timestamp',
  security: 'threats, fake receipt, vulnerability, report',
  limits: 'what is not there, not supported, missing, notification',
  plugins: 'install a plugin, add a verifier, npm',
  'credential-schemes': 'authentication of a destination, bearer, basic, aws, token exchange',
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
      { path: 'typescript', file: 'core/client/README.md', keywords: 'javascript, node, sdk, client' },
      { path: 'python', file: 'core/python/README.md', keywords: 'pip, sdk, client' },
      own('errors'),
      own('events'),
      own('webhooks'),
      own('alerts'),
      own('reports'),
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
      'looking-again',
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
      {
        path: 'writing-a-verifier',
        file: 'plugins/README.md',
        keywords: 'write a plugin, develop, custom destination, own action, new provider',
      },
      own('credential-schemes'),
      { path: 'library', file: 'core/README.md' },
      ...['glossary', 'limits', 'benchmark'].map(own),
      { path: 'changelog', file: 'CHANGELOG.md' },
    ],
  },
]

function own(path: string): FilePage {
  const keywords = KEYWORDS[path]
  return { path, file: `server/docs/${path}.md`, ...(keywords !== undefined && { keywords }) }
}
