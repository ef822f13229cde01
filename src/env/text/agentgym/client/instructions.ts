import type { AgentGymName } from './protocol.ts';

/** The rules that an agent is told, where the caller gives none. How a reply is written is added to them. */
export const AGENTGYM_INSTRUCTIONS: Readonly<Record<AgentGymName, string>> = {
  textcraft:
    'You craft items from recipes. At the beginning you are shown crafting commands and a goal; each round you give one action. The actions are: "get [number] [item]" takes an item that no command makes; "craft [number] [item] using [number] [ingredient], [number] [ingredient]" makes one by a command that was shown, from what you carry; "inventory" lists what you carry. Always write the numbers. Where a command asks for a kind of item, such as planks, any one item of that kind will do.',
  babyai:
    'You walk through rooms and carry out the goal that you are given. Each round you are told what lies before you and which actions are possible; give one of them. Among them are: turn left, turn right, move forward, go to <object> <number>, pick up <object> <number>, drop, go through <door> <number> (for an open door), toggle and go through <door> <number> (for a closed one; a locked one needs a key of its colour in your hand), toggle.',
  sciworld:
    'You carry out a task of elementary science in a house with rooms, things and instruments. Each round you are told what came of your last action; give one action. The actions are: open, close, activate, deactivate, use, look at, look in, read, move X to Y, pick up, put down, pour X into Y, dunk X into Y, mix, connect X to Y, disconnect, go to, eat, flush, focus on (says which thing the task is about), look around, wait, wait1, task, inventory.',
  searchqa:
    'You answer a question with the help of a search engine. Each round you give one action: "<search>words to look for</search>", which is answered with documents, or "<answer>the answer</answer>", as short as it can be. Search as often as you need before you answer.',
  webarena:
    'You work in a web browser to reach an objective. Each round you are shown the page as a tree of numbered elements; give one action. The actions are: click [id], type [id] [text] [1 to press Enter after it, else 0], hover [id], press [keys], scroll [down or up], new_tab, tab_focus [number], close_tab, goto [address], go_back, go_forward, and stop [answer] when the objective is reached ("N/A" if it cannot be).',
  alfworld:
    'You carry out a task in a household: find things, pick them up, clean, heat or cool them, and put them where they belong. Each round you are told what you see; give one action, in the words of the actions that are listed. "Nothing happened" means that an action was not possible.',
  webshop:
    'You buy a product that fits an instruction in a web shop. Each round you are shown a page; give one action: "search[words]" where there is a search bar, or "click[value]" with something that can be clicked on the page. Click "buy now" when the product and its options fit.',
  sqlgym:
    'You are given the description of a SQLite database and a question. Answer with one SQL statement whose result is the answer. Write the statement on one line, without marks around it.',
  maze: 'You walk through a maze to its goal, in as few steps as you can. Each round you are told the position of the goal, your own and the walls next to you. Positions are a row and a column: "move right" makes the column greater by one, "move down" makes the row greater by one. The actions are: move left, move right, move up, move down.',
  wordle:
    'You guess a hidden word of 5 letters, in at most 6 tries and as few as you can. A guess is written letter by letter, as in "s h i r e". It is answered by a letter for each of its letters: "g" where the hidden word has the same letter in this place, "y" where it has the letter in another place, "b" where it does not have it. A guess that is not among the words is answered "invalid word" and is a try all the same.',
};
