import { repositoryOf } from '@claimcheck/cli/service/remote-url'
import t from 'tap'

const rows: [remote: string, host: string, slug: string][] = [
  ['https://github.com/acme/api.git', 'github.com', 'acme/api'],
  ['https://github.com/acme/api', 'github.com', 'acme/api'],
  ['https://github.com/acme/api/', 'github.com', 'acme/api'],
  ['https://user:secret@github.com/acme/api.git', 'github.com', 'acme/api'],
  ['https://x-access-token:ghs_secret@GitHub.com/acme/.github', 'github.com', 'acme/.github'],
  ['http://127.0.0.1:8080/acme/api.git', '127.0.0.1:8080', 'acme/api'],
  ['https://gitlab.example:8443/group/sub/api.git', 'gitlab.example:8443', 'group/sub/api'],
  ['ssh://git@github.com/acme/api.git', 'github.com', 'acme/api'],
  ['ssh://git@git.example:2222/acme/api.git', 'git.example', 'acme/api'],
  ['ssh://git@ssh.github.com:443/acme/api.git', 'github.com', 'acme/api'],
  ['ssh://git@altssh.gitlab.com:443/group/sub/api.git', 'gitlab.com', 'group/sub/api'],
  ['git@altssh.bitbucket.org:acme/api.git', 'bitbucket.org', 'acme/api'],
  ['git@github.com:acme/api.git', 'github.com', 'acme/api'],
  ['github.com:acme/api', 'github.com', 'acme/api'],
  ['git@gitlab.example:group/sub/api.git', 'gitlab.example', 'group/sub/api'],
  ['git@[::1]:acme/api.git', '[::1]', 'acme/api'],
  ['git://git.example/acme/api.git', 'git.example', 'acme/api'],
]

for (const [remote, host, slug] of rows) {
  const isSsh = !/^(?:https?|git):/.test(remote)
  t.test(`${remote} is ${slug} at ${host}`, async (t) => t.strictSame(repositoryOf(remote), { host, slug, isSsh }))
}

for (const remote of [
  '',
  '/srv/git/acme/api.git',
  '../api',
  './a:b/c',
  'file:///srv/git/acme/api.git',
  'https://github.com/',
  'https://github.com/acme',
  'https://github.com/acme/../other',
  'https://github.com/acme/%2e%2e',
  'https://github.com/acme/-option',
  'https://github.com/acme/a b',
  'git@github.com:acme',
  'git@github.com:~user/api',
  'ext::sh -c touch% /tmp/x',
  'git@-oProxyCommand=x:acme/api',
  'https://exa mple/acme/api',
  'git@github.com:acme/api\u001b[31m',
]) {
  t.test(`${JSON.stringify(remote)} is no repository of a host`, async (t) => t.equal(repositoryOf(remote), undefined))
}
