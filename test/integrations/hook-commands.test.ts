// Test run: end-to-end, slow, alone
/** Which commands of a coding agent's shell the hook takes for a push, and from which folder. It runs what records that. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'

const HOOK = resolve('core/cli/integrations/coding-agents/claim-push.mjs')

/** By the folder in which the push is claimed, below that of the event. */
const SEEN: Readonly<Record<string, readonly string[]>> = {
  '': [
    'git push',
    'GIT_SSH_COMMAND="ssh -i ~/.ssh/key -o IdentitiesOnly=yes" git push',
    "GIT_SSH_COMMAND='ssh -i key' GIT_TRACE=1 git push origin main",
    'timeout 60 git push',
    'timeout -k 5 --signal=KILL 60s git push',
    'env -u HTTPS_PROXY GIT_TRACE=1 nice -n 10 git push',
    'command git push; nohup git push &',
    'time git push 2>&1 | tail -3',
    'time -p /usr/bin/git push',
    'git push >/tmp/log 2>&1',
    'git commit -m "it\'s; done" && git push',
    "git commit -m $'it\\'s\\n\\ndone' && git push",
    'git commit -m "$(cat <<\'EOF\'\nsay "hello" (or don\'t)\n\nCo-Authored-By: An Agent\nEOF\n)" && git push',
    'git commit -F - <<EOF\ndon\'t "quote\nEOF\ngit push',
    'for remote in origin backup; do git push "$remote"; done',
    'for i in 1 2 3; do\n  git push && break\n  sleep 2\ndone',
    'until git push; do sleep 5; done',
    'while ! git push; do sleep 5; done',
    'if git push; then echo yes; else echo no; fi',
    '{ git push; }',
    '(cd sub && make); git push',
    'git add -A \\\n  && git push',
    'git -c push.default=current --no-pager push # at last',
    'echo `git rev-parse HEAD`; echo "$HOME" $HOME; git push',
  ],
  'my dir': [
    'cd "my dir" && git push',
    "cd 'my dir' && git push",
    'cd my\\ dir && git push',
    '(cd "my dir" && git push)',
    'git -C "my dir" push',
  ],
  sub: [
    'cd sub && timeout 60 git push',
    'cd sub; for r in a b; do git push $r main; done',
    'builtin cd sub && git push',
  ],
}

const NOT_SEEN = [
  'echo git push',
  'echo "x && git push"',
  "git commit -m 'first\ngit push'",
  'cat > push.sh <<EOF\ngit push\nEOF',
  'git log # && git push',
  'echo "$(git push)"',
  'timeout 60 git status',
  'cd "$ELSEWHERE" && git push',
  'cd ~/other && git push',
  'cd - && git push',
  'cd "$(git rev-parse --show-toplevel)" && git push',
  'for d in a b; do cd $d && git push; done',
  'for d in */; do git -C "$d" push; done',
  'pushd sub && git push',
  'GIT_DIR=/elsewhere/.git git push',
  'git --git-dir=/elsewhere/.git push',
  'export GIT_DIR=/elsewhere/.git; git push',
  'declare -x GIT_WORK_TREE=/elsewhere && git push',
  'GIT_TRACE=1 git push --dry-run',
  'git push -qn',
  'env --chdir=sub git push',
  'env -C sub git push',
  'git push "unended',
  'git push $(unended',
]

t.test(
  'a push is seen in whatever way a shell is told it, and where it cannot be known nothing is claimed',
  async (t) => {
    const cwd = t.testdir({ 'my dir': {}, sub: {} })
    const bin = join(cwd, 'bin')
    mkdirSync(bin)
    const [record, program] = [join(bin, 'record'), join(bin, 'claim')]
    writeFileSync(program, `#!/bin/sh\npwd -P >> '${record}'\n`, { mode: 0o755 })
    const claimedIn = (command: string) => {
      rmSync(record, { force: true })
      const event = { hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_input: { command }, cwd }
      const env = { PATH: process.env.PATH!, CLAIMCHECK_COMMAND: program, CLAIMCHECK_HOOK: 'wait' }
      const { status } = spawnSync(process.execPath, [HOOK], { cwd: '/', env, input: JSON.stringify(event) })
      t.equal(status, 0)
      return existsSync(record) ? readFileSync(record, 'utf8').trimEnd() : undefined
    }
    for (const [folder, commands] of Object.entries(SEEN))
      for (const command of commands) t.equal(claimedIn(command), resolve(cwd, folder), command)
    for (const command of NOT_SEEN) t.equal(claimedIn(command), undefined, command)
  },
)
