/** Something that its members share: it ends with the last of them. */
export type Shared<Member> = {
  add(member: Member): void;
  /** Returns how many members are left. */
  remove(member: Member): number;
  end(): Promise<void>;
};

/** Returns a function that joins a member. It opens the shared thing for the first one, and anew once it has ended. */
export function shareWhileUsed<Member>(
  open: () => Shared<Member>,
): (member: Member) => { stop(): Promise<void> } {
  let current: Shared<Member> | null = null;
  return (member) => {
    current ??= open();
    const joined = current;
    joined.add(member);
    return {
      async stop() {
        if (joined.remove(member) > 0) return;
        if (current === joined) current = null;
        await joined.end();
      },
    };
  };
}
