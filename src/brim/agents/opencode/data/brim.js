// brim for opencode: tells the model your rules, refuses what they forbid, and keeps what a compaction would drop.
// `brim init` writes this file, and `brim uninstall` removes it.
import { spawn } from "node:child_process"
import { appendFile, mkdir } from "node:fs/promises"
import { dirname, join } from "node:path"

const LAUNCHER = "{launcher}"
const HOOK = process.platform === "win32" ? ["cmd.exe", "/d", "/c", "call", LAUNCHER] : [LAUNCHER] // it can't start a .cmd
const SPENT = join(dirname(dirname(LAUNCHER)), "opencode") // a file per session: what each step cost, which commands ran, which files changed
const PATIENCE = 2000 // milliseconds; a hook that takes longer says nothing

/** Ask brim about an event. It never fails: without an answer the agent goes on. */
function ask(event, data) {
  return new Promise((resolve) => {
    let text = ""
    const [program, ...first] = HOOK
    const hook = spawn(program, [...first, event, "opencode"], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
    const timer = setTimeout(() => hook.kill("SIGKILL"), PATIENCE)
    hook.on("error", () => resolve(""))
    hook.stdin.on("error", () => {})
    hook.stdout.on("data", (chunk) => (text += chunk))
    hook.on("close", () => {
      clearTimeout(timer)
      resolve(text)
    })
    hook.stdin.end(JSON.stringify({ hook_event_name: event, ...data }))
  })
}

/** The answer as an object, empty if it isn't JSON. */
async function answer(event, data) {
  try {
    return JSON.parse((await ask(event, data)) || "{}")
  } catch {
    return {}
  }
}

const told = (answered) => answered.hookSpecificOutput?.additionalContext ?? ""
const snake = (given) =>
  Object.fromEntries(Object.entries(given ?? {}).map(([key, value]) => [key.replace(/[A-Z]/g, (c) => "_" + c.toLowerCase()), value]))

/** What a call names: its command or files, and nothing of what it writes. */
const named = ({ command, filePath, patchText } = {}) => ({
  command,
  filePath,
  patchText: patchText?.split("\n").filter((line) => line.startsWith("*** ")).join("\n"),
})

export const Brim = async ({ client, directory }) => {
  const starts = new Map() // how the next request of a session begins: "startup", or "compact"; "" if it's going on
  const later = new Map() // what is told before a call reaches the model with its result
  const file = (session) => join(SPENT, `${session}.jsonl`)
  const of = (session, more) => ({ session_id: session, cwd: directory, transcript_path: file(session), ...more })
  const note = async (session, line) => {
    await mkdir(SPENT, { recursive: true, mode: 0o700 })
    const whole = { timestamp: Date.now(), sessionID: session, cwd: directory, ...line }
    await appendFile(file(session), JSON.stringify(whole) + "\n", { mode: 0o600 })
  }
  const show = (answered) => {
    const message = answered.systemMessage // is for the person
    if (message) client.tui.showToast({ body: { title: "brim", message, variant: "warning" } }).catch(() => {})
    return answered
  }
  const begin = async (session) => {
    const source = starts.get(session) ?? "startup"
    starts.set(session, "")
    return source ? told(show(await answer("SessionStart", of(session, { source })))) : ""
  }
  return {
    "chat.message": async ({ sessionID, model }, { message, parts }) => {
      const typed = parts.filter((part) => part.type === "text" && !part.synthetic)
      const first = await begin(sessionID)
      const prompt = typed.map((part) => part.text).join("\n")
      const answered = show(await answer("UserPromptSubmit", of(sessionID, { prompt, model: model?.modelID })))
      if (answered.decision === "block") throw new Error(answered.reason)
      const text = [first, told(answered)].filter(Boolean).join("\n\n")
      if (text && typed.length) {
        const id = `${typed.at(-1).id}b`
        parts.push({ id, sessionID, messageID: message.id, type: "text", synthetic: true, text })
      }
    },
    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      const about = { tool_name: tool, tool_input: snake(args), tool_use_id: callID }
      const answered = show(await answer("PreToolUse", of(sessionID, about)))
      const { permissionDecision, permissionDecisionReason } = answered.hookSpecificOutput ?? {}
      if (permissionDecision === "deny") throw new Error(permissionDecisionReason)
      later.set(callID, told(answered))
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
      const state = { status: "completed", input: named(args), output: "", metadata: { exit: output.metadata?.exit } }
      await note(sessionID, { type: "tool_use", part: { type: "tool", tool, callID, state } }).catch(() => {})
      const about = { tool_name: tool, tool_input: snake(args), tool_use_id: callID, tool_response: output.output }
      const texts = [later.get(callID), await begin(sessionID), told(show(await answer("PostToolUse", of(sessionID, about))))]
      later.delete(callID)
      output.output = [output.output, ...texts.filter(Boolean)].join("\n\n")
    },
    "experimental.session.compacting": async ({ sessionID }, output) => {
      const keep = await ask("PreCompact", of(sessionID, { trigger: "auto" }))
      if (keep.trim()) output.context.push(keep)
    },
    event: async ({ event }) => {
      const { part, sessionID: session } = event.properties ?? {}
      if (event.type === "message.part.updated" && part.type === "step-finish") {
        await note(part.sessionID, { type: "step_finish", part })
      }
      if (event.type === "session.compacted") starts.set(session, "compact")
      if (event.type === "session.idle") show(await answer("Stop", of(session, {})))
    },
  }
}
