// Test run: end-to-end, slow, alone
/** What a checkout says about its last push, with real git. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lastPush, type PushOptions } from '@claimcheck/cli/service/checkout'
import t, { type Test } from 'tap'

const PERSON = ['-c', 'user.name=A', '-c', 'user.email=a@example.com']

/** A checkout whose `origin` has a web address and is really a folder beside it. */
function checkout(t: Test, format = 'sha1') {
  const root = t.testdir()
  const folder = join(root, 'work')
  const bare = join(root, 'bare.git')
  mkdirSync(folder)
  const git = (...args: string[]) =>
    execFileSync('git', [...PERSON, ...args], { cwd: folder, encoding: 'utf8', stdio: 'pipe' }).trim()
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', `--object-format=${format}`, bare])
  git('init', '-q', '-b', 'main', `--object-format=${format}`)
  const commit = () => {
    git('commit', '-q', '--allow-empty', '-m', 'x')
    return git('rev-parse', 'HEAD')
  }
  /** Pushes really, and gives the remote its web address afterwards. */
  const push = (...args: string[]) => {
    git('remote', 'set-url', 'origin', bare)
    git('push', '-q', ...args)
    git('remote', 'set-url', 'origin', 'git@github.com:acme/api.git')
  }
  git('remote', 'add', 'origin', bare)
  const last = async (options: PushOptions = {}, at = folder) => {
    const { pushedAt: _, ...last } = await lastPush(at, options)
    return last
  }
  const pushedAt = async (options: PushOptions = {}, at = folder) => (await lastPush(at, options)).pushedAt
  return { root, folder, bare, git, commit, push, last, pushedAt }
}

const noPush = (message: RegExp) => ({ code: 'no_push', message })

t.test('a branch with an upstream: its repository, its branch there, its commit', async (t) => {
  const { git, commit, push, last } = checkout(t)
  const sha = commit()
  push('-u', 'origin', 'main')
  t.strictSame(await last(), { host: 'github.com', slug: 'acme/api', branch: 'main', sha })
  git('switch', '-q', '-c', 'mine')
  const second = commit()
  push('-u', 'origin', 'mine:theirs')
  t.strictSame(await last(), { host: 'github.com', slug: 'acme/api', branch: 'theirs', sha: second })
  t.match(await last({ branch: 'theirs', commit: 'HEAD~1' }), { sha })
})

t.test('a commit of a repository of SHA-256 has a name of 64 characters', async (t) => {
  const { commit, push, last } = checkout(t, 'sha256')
  const sha = commit()
  push('-u', 'origin', 'main')
  t.match(sha, /^[0-9a-f]{64}$/)
  t.match(await last(), { branch: 'main', sha })
})

t.test('without an upstream it is the branch of the same name, at the remote that git push takes', async (t) => {
  const { git, commit, push, last } = checkout(t)
  commit()
  push('origin', 'main')
  t.match(await last(), { slug: 'acme/api', branch: 'main' })
  git('remote', 'add', 'fork', 'https://user:secret@gitlab.com/me/api.git')
  git('update-ref', 'refs/remotes/fork/main', 'HEAD')
  git('config', 'remote.pushDefault', 'fork')
  t.match(await last(), { host: 'gitlab.com', slug: 'me/api', branch: 'main' })
  t.match(await last({ remote: 'origin' }), { host: 'github.com', slug: 'acme/api' })
  git('config', 'branch.main.pushRemote', 'origin')
  t.match(await last(), { slug: 'acme/api' })
  git('config', 'remote.origin.push', 'refs/heads/main:refs/heads/elsewhere')
  t.match(await last({ unchecked: true }), { branch: 'elsewhere' })
})

t.test('a branch that began at another one is claimed where it was pushed to', async (t) => {
  const { git, commit, push, last } = checkout(t)
  commit()
  push('-u', 'origin', 'main')
  git('checkout', '-q', '-b', 'topic', 'origin/main')
  t.equal(git('config', 'branch.topic.merge'), 'refs/heads/main')
  const sha = commit()
  for (const unchecked of [false, true])
    await t.rejects(last({ unchecked }), noPush(/not on origin\/topic or origin\/main.*--branch and --unchecked/))
  t.match(await last({ unchecked: true, branch: 'topic' }), { branch: 'topic', sha })
  push('origin', 'topic')
  t.match(await last(), { branch: 'topic', sha })
  const second = commit()
  push('origin', 'HEAD:main')
  t.match(await last(), { branch: 'main', sha: second })
  git('config', 'push.default', 'upstream')
  t.match(await last(), { branch: 'main', sha: second })
})

t.test('a branch that began at one of this checkout is claimed at the remote', async (t) => {
  const { git, commit, push, last } = checkout(t)
  commit()
  push('-u', 'origin', 'main')
  git('checkout', '-q', '--track', '-b', 'topic', 'main')
  t.equal(git('config', 'branch.topic.remote'), '.')
  const sha = commit()
  push('origin', 'topic')
  t.match(await last(), { branch: 'topic', sha })
})

t.test('a host of ssh is the one that the configuration of ssh leads to', async (t) => {
  const { root, git, commit, push, last } = checkout(t)
  commit()
  push('-u', 'origin', 'main')
  const config = join(root, 'config')
  writeFileSync(
    config,
    [
      'Host github.com-work\n  HostName github.com\n  IdentityFile ~/.ssh/work',
      'Host gh\n  HostName ssh.github.com\n  Port 443',
      'Host git.acme.example\n  HostName 192.0.2.7',
      'Host lonely\n  User git',
      'Host GitHub_Work\n  HostName github.com',
      'Match host team user acme\n  HostName github.com',
    ].join('\n'),
  )
  // It knows no other place for its configuration than the home folder of the user.
  const bin = join(root, 'bin')
  mkdirSync(bin)
  const ssh = execFileSync('sh', ['-c', 'command -v ssh'], { encoding: 'utf8' }).trim()
  writeFileSync(join(bin, 'ssh'), `#!/bin/sh\nexec ${ssh} -F '${config}' "$@"\n`, { mode: 0o755 })
  const { PATH } = process.env
  process.env.PATH = `${bin}:${PATH}`
  t.teardown(() => {
    process.env.PATH = PATH
  })
  for (const [address, host] of Object.entries({
    'git@github.com-work:acme/api.git': 'github.com',
    'ssh://git@github.com-work/acme/api.git': 'github.com',
    'gh:acme/api.git': 'github.com',
    'git@GitHub_Work:acme/api.git': 'github.com',
    'ssh://git@GitHub_Work/acme/api.git': 'github.com',
    'acme@team:acme/api.git': 'github.com',
    'git@github.com:acme/api.git': 'github.com',
    'ssh://git@ssh.github.com:443/acme/api.git': 'github.com',
    'git@git.acme.example:acme/api.git': 'git.acme.example',
    'https://gh.example/acme/api.git': 'gh.example',
  })) {
    git('remote', 'set-url', 'origin', address)
    t.match(await last(), { host, slug: 'acme/api' }, address)
  }
  git('remote', 'set-url', 'origin', 'git@lonely:acme/api.git')
  await t.rejects(last(), noPush(/"lonely" is a name for ssh.*--host/))
  t.match(await last({ host: 'git.acme.example' }), { host: 'git.acme.example' })
})

t.test('a checkout of another user is not read, and the refusal says what to do', async (t) => {
  const { commit, push, last, folder } = checkout(t)
  commit()
  push('-u', 'origin', 'main')
  process.env.GIT_TEST_ASSUME_DIFFERENT_OWNER = '1'
  t.teardown(() => {
    delete process.env.GIT_TEST_ASSUME_DIFFERENT_OWNER
  })
  await t.rejects(last(), noPush(/of another user.*git config --global --add safe\.directory "\/.*work"/))
  t.ok(existsSync(folder))
})

t.test('what was not pushed is not claimed', async (t) => {
  const { commit, push, last } = checkout(t)
  commit()
  push('-u', 'origin', 'main')
  commit()
  await t.rejects(last(), noPush(/is not on origin\/main, as far as this checkout knows: push it first/))
  t.match(await last({ unchecked: true }), { branch: 'main' })
  await t.rejects(last({ branch: 'other' }), noPush(/not on origin\/other/))
})

t.test('a detached HEAD needs the name of the branch', async (t) => {
  const { git, commit, push, last } = checkout(t)
  const sha = commit()
  push('-u', 'origin', 'main')
  git('checkout', '-q', '--detach')
  await t.rejects(last(), noPush(/HEAD is detached.*--branch/))
  t.match(await last({ branch: 'main' }), { sha, branch: 'main' })
})

t.test('a worktree, and a folder within, say the same', async (t) => {
  const { root, folder, git, commit, push, last } = checkout(t)
  const sha = commit()
  push('-u', 'origin', 'main')
  git('worktree', 'add', '-q', '--track', '-b', 'second', join(root, 'tree'), 'origin/main')
  t.match(await last({}, join(root, 'tree')), { sha, branch: 'main', slug: 'acme/api' })
  mkdirSync(join(folder, 'deep'))
  t.match(await last({}, join(folder, 'deep')), { sha })
})

t.test('no checkout, no commit, no remote, and remotes that are no code hosts', async (t) => {
  const { git, commit, last, folder } = checkout(t)
  await t.rejects(lastPush('/', {}), noPush(/no git checkout/))
  await t.rejects(last(), noPush(/no commit "HEAD"/))
  commit()
  await t.rejects(last({ commit: '--all' }), noPush(/no commit "--all"/))
  await t.rejects(last({ unchecked: true }), noPush(/leads to no repository of a code host/), 'a folder')
  t.match(await last({ unchecked: true, target: 'acme/api', host: 'github.com' }), { slug: 'acme/api', branch: 'main' })
  git('remote', 'set-url', 'origin', 'git@work:acme/api.git')
  await t.rejects(last({ unchecked: true }), noPush(/"work" is a name for ssh.*--host/))
  t.match(await last({ unchecked: true, host: 'github.com' }), { host: 'github.com', slug: 'acme/api' })
  git('remote', 'set-url', '--add', 'origin', 'git@github.com:acme/other.git')
  await t.rejects(last({ unchecked: true }), noPush(/several repositories/))
  for (const branch of ['-x', 'a..b', 'a b', '']) {
    await t.rejects(last({ branch, unchecked: true }), noPush(/no name of a branch/), branch)
  }
  await t.rejects(last({ remote: 'nobody' }), noPush(/no remote "nobody"/))
  await t.rejects(last({ remote: '--help' }), noPush(/no remote "--help"/))
  git('remote', 'remove', 'origin')
  await t.rejects(last(), noPush(/no remote: add one/))
  git('remote', 'add', 'one', 'git@github.com:acme/api.git')
  git('remote', 'add', 'two', 'git@github.com:acme/api.git')
  await t.rejects(last(), noPush(/Which remote.*one, two/))
  t.ok(existsSync(folder))
})

t.test('nothing that the checkout configures is run', async (t) => {
  const { root, folder, git, commit, push, last } = checkout(t)
  commit()
  push('-u', 'origin', 'main')
  const trap = join(root, 'trap')
  writeFileSync(trap, `#!/bin/sh\ntouch ${join(root, 'sprung')}\n`, { mode: 0o755 })
  for (const name of [
    'core.fsmonitor',
    'core.pager',
    'core.sshCommand',
    'core.editor',
    'core.askPass',
    'alias.remote',
  ]) {
    git('config', name, name.startsWith('alias') ? `!${trap}` : trap)
  }
  git('config', 'credential.helper', `!${trap}`)
  for (const hook of ['reference-transaction', 'post-index-change', 'pre-push']) {
    writeFileSync(join(folder, '.git/hooks', hook), `#!/bin/sh\ntouch ${join(root, 'sprung')}\n`, { mode: 0o755 })
  }
  t.match(await last(), { slug: 'acme/api' })
  t.notOk(existsSync(join(root, 'sprung')))
})

t.test('nothing is fetched, whatever the checkout configures, also by an older git', async (t) => {
  const { root, folder, git, commit, last } = checkout(t)
  commit()
  const trap = join(root, 'trap')
  writeFileSync(trap, `#!/bin/sh\ntouch ${join(root, 'sprung')}\n`, { mode: 0o755 })
  git('config', 'core.repositoryFormatVersion', '1')
  git('config', 'extensions.partialClone', 'origin')
  git('config', 'remote.origin.promisor', 'true')
  git('config', 'remote.origin.url', `ext::${trap}`)
  git('config', 'protocol.ext.allow', 'always')
  writeFileSync(join(folder, '.git/refs/heads/main'), `${'1'.repeat(40)}\n`)
  await t.rejects(last(), noPush(/no commit "HEAD"/))

  const { PATH } = process.env
  t.teardown(() => {
    process.env.PATH = PATH
  })
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  mkdirSync(join(root, 'old'))
  writeFileSync(join(root, 'old/git'), `#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec ${real} "$@"\n`, { mode: 0o755 })
  process.env.PATH = `${join(root, 'old')}:${PATH}`
  await t.rejects(last(), noPush(/no commit "HEAD"/))
  t.notOk(existsSync(join(root, 'sprung')))
})

/** Runs what git dates by this moment, in seconds. */
function dated(seconds: number, run: () => void): number {
  process.env.GIT_COMMITTER_DATE = `@${seconds} +0200`
  run()
  delete process.env.GIT_COMMITTER_DATE
  return seconds * 1000 + 999
}

t.test('the time of a push is that of its last push here, by the end of its second', async (t) => {
  const { root, git, commit, push, pushedAt } = checkout(t)
  const before = Math.floor(Date.now() / 1000) * 1000
  const first = commit()
  push('-u', 'origin', 'main')
  const now = await pushedAt()
  t.ok(now! > before && now! <= Date.now(), 'it is not later than now')

  const second = commit()
  const then = dated(1_790_000_000, () => push())
  t.equal(await pushedAt(), then)
  const earlier = await pushedAt({ commit: 'HEAD~1' })
  t.ok(earlier! > before && earlier! <= Date.now(), 'each commit has its own')
  git('worktree', 'add', '-q', '--track', '-b', 'second', join(root, 'tree'), 'origin/main')
  t.equal(await pushedAt({}, join(root, 'tree')), then)

  dated(1_790_001_000, () => push('--force', 'origin', `${first}:main`))
  const again = dated(1_790_002_000, () => push('origin', 'main'))
  t.equal(git('rev-parse', 'origin/main'), second)
  t.equal(await pushedAt(), again)
  commit()
  dated(Math.floor(Date.now() / 1000) + 3600, () => push())
  t.ok((await pushedAt())! <= Date.now(), 'a time of the future is that of now')
})

t.test('the time of a push is not known by what was fetched, or without a reflog', async (t) => {
  const { folder, git, commit, push, pushedAt } = checkout(t)
  commit()
  commit()
  dated(1_790_000_000, () => push('-u', 'origin', 'main'))
  t.equal(await pushedAt({ commit: 'HEAD~1' }), undefined, 'an ancestor of what was pushed')
  rmSync(join(folder, '.git/logs/refs/remotes/origin/main'))
  t.equal(await pushedAt(), undefined)
  git('update-ref', '--create-reflog', '-m', 'fetch: fast-forward', 'refs/remotes/origin/other', 'HEAD')
  t.equal(await pushedAt({ branch: 'other' }), undefined)
})

t.test('a program that the checkout names for signatures does not run', async (t) => {
  const { root, git, commit, push, pushedAt } = checkout(t)
  commit()
  const tree = git('write-tree')
  const signed = `tree ${tree}\nauthor A <a@example.com> 1 +0000\ncommitter A <a@example.com> 1 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nx\n`
  writeFileSync(join(root, 'signed'), signed)
  git('reset', '-q', '--hard', git('hash-object', '-t', 'commit', '-w', join(root, 'signed')))
  const mark = join(root, 'ran')
  writeFileSync(join(root, 'gpg'), `#!/bin/sh\ntouch '${mark}'\n`, { mode: 0o755 })
  git('config', 'gpg.program', join(root, 'gpg'))
  git('config', 'log.showSignature', 'true')
  push('-u', 'origin', 'main')
  t.ok(await pushedAt())
  t.notOk(existsSync(mark))
  git('log', '-1')
  t.ok(existsSync(mark), 'git log alone runs it')
})
