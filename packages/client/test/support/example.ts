import { type AnyResult, connect, type Host, initialContent, type Outcome } from "@reprise/client";

export async function deleteFolder(url: string, approve: (question: string) => Promise<boolean>) {
  const host: Host = {
    // Show `context.server.origin` with the question, and the form before it is sent. "later" leaves the call resumable.
    form: async ({ message, fields }, { server }) => {
      if (!(await approve(`${server.origin} asks: ${message}`))) return { action: "decline" };
      return { action: "accept", content: initialContent(fields).set("confirm", true) };
    },
  };
  const client = await connect({ url, host });
  try {
    const outcome: Outcome<AnyResult> = await client.callTool("delete_folder", { path: "build/" });
    // Plain JSON: keep it, and give it to `client.resume` in any process.
    return outcome.status === "waiting" ? JSON.stringify(outcome.call) : outcome;
  } finally {
    await client.close();
  }
}
