/** A shell in a folder like a checkout, in which the commands of documentation are run one block after another, as a reader types them. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const LIMIT_MS = 120_000

/**
 * What a reader does by hand. `curl` tells of refusals here, so that a block with one fails. What the test itself runs on is installed.
 */
const BY_HAND = `
set -eo pipefail
npm() { [ "$1" = ci ] || command npm "$@"; }
curl() { command curl --fail-with-body "$@"; }
stop() {
  [ -n "$1" ] || return 0
  kill -TERM -- "-$1"
  wait "$1" || true
}
stop_service() { stop "$SERVICE"; SERVICE=; }
stop_git_server() { stop "$GIT_SERVER"; GIT_SERVER=; }
wait_for() {
  local tries=600
  until grep -q "$1" "$2"; do
    kill -0 "$3" && [ $((tries--)) -gt 0 ] || { cat "$2"; return 1; }
    sleep 0.1
  done
}
start_service() {
  stop_service
  : > service.log
  setsid npm start > service.log 2>&1 &
  SERVICE=$!
  wait_for 'is running on' service.log "$SERVICE"
  curl -s "http://127.0.0.1:$PORT/readyz"
  cat service.log
}
start_git_server() {
  stop_git_server
  : > git-server.log
  setsid npm run git-server -- --port "$GIT_PORT" > git-server.log 2>&1 &
  GIT_SERVER=$!
  wait_for 'just pushed' git-server.log "$GIT_SERVER"
  cat git-server.log
}
forget() {
  local name
  for name in $(compgen -e); do [[ " $KNOWN " == *" $name "* ]] || unset "$name"; done
}
SERVICE=
GIT_SERVER=
trap 'stop_service; stop_git_server' EXIT
KNOWN=$(compgen -e | tr '\\n' ' ')
`

export class PageShell {
  readonly #folder: string
  readonly #child: ChildProcessWithoutNullStreams
  readonly #ended: Promise<unknown>
  #printed = ''

  private constructor(folder: string, child: ChildProcessWithoutNullStreams) {
    this.#folder = folder
    this.#child = child
    this.#ended = once(child, 'exit')
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#printed += text
      })
    }
    child.stdin.on('error', () => {})
  }

  static async open(folder: string, env: NodeJS.ProcessEnv): Promise<PageShell> {
    const shell = new PageShell(folder, spawn('bash', ['--norc'], { cwd: folder, env }))
    await shell.run(BY_HAND)
    return shell
  }

  /** What the commands print. @throws Error with all that was printed, when one of them fails or does not end; the shell has ended then */
  async run(commands: string): Promise<string> {
    const end = randomUUID()
    const signal = AbortSignal.timeout(LIMIT_MS)
    const file = join(this.#folder, '.block.sh')
    await writeFile(file, `${commands}\n`)
    this.#printed = ''
    // From a file, so that no command reads the next ones as its input.
    this.#child.stdin.write(`. ${file} < /dev/null\necho ${end}\n`)
    while (!this.#printed.includes(end)) {
      const more = once(this.#child.stdout, 'data', { signal }).then(() => true)
      const goesOn = await Promise.race([more, this.#ended.then(() => false)]).catch(() => false)
      if (goesOn) continue
      this.#child.kill()
      throw new Error(`these commands failed:\n${commands}\n\nThey printed:\n${this.#printed}`)
    }
    return this.#printed.replace(`${end}\n`, '')
  }

  /** A command has failed. */
  get isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** The next page is read in a new terminal. */
  async newPage(): Promise<void> {
    await this.run('forget\nstop_git_server')
  }

  async close(): Promise<void> {
    if (this.isOver) return
    await this.run('stop_service\nstop_git_server')
    this.#child.stdin.end()
    await this.#ended
  }
}
