/** How a person types the commands here: several command lines offer them. */

let program = 'claimcheck-cli'

export function nameProgram(name: string): void {
  program = name
}

export function typed(command: string): string {
  return `${program} ${command}`
}
