# SPDX-License-Identifier: BSD-3-Clause
# bash completion of @, below its tables. bash splits --option=value at "=".

_@_value()
{
	case $1 in
	FILE | PATH)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$2")
		;;
	DIR)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -d -- "$2")
		;;
	USER) mapfile -t COMPREPLY < <(compgen -u -- "$2") ;;
	COMMAND) mapfile -t COMPREPLY < <(compgen -c -- "$2") ;;
	METRIC) _@_words "$("${COMP_WORDS[0]}" __complete metrics 2>/dev/null)" "$2" ;;
	esac
}

_@_words()
{
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_@()
{
	local options values subcommands argument value= word=${COMP_WORDS[COMP_CWORD]} one i
	local at=${COMP_WORDS[0]##*/}

	[[ $word != = ]] || word=
	_@_table "$at"
	for ((i = 1; i < COMP_CWORD; i++)); do
		one=${COMP_WORDS[i]}
		if [[ $values == *" $one:"* ]]; then
			value=${values#*" $one:"}
			value=${value%% *}
			((i++))
			[[ ${COMP_WORDS[i]} != = ]] || ((i == COMP_CWORD || i++))
			((i == COMP_CWORD)) || value=
		elif [[ $argument == COMMAND && ($one == -- || $one != -*) ]]; then
			[[ $one != -- ]] || ((i++))
			if ((i < COMP_CWORD)) && declare -F _command_offset >/dev/null; then
				_command_offset "$i"
				return
			fi
			((i == COMP_CWORD)) && value=COMMAND || value=FILE
			break
		elif [[ " $subcommands " == *" $one "* ]]; then
			at="$at $one"
			_@_table "$at"
		fi
	done
	if [[ -n $value ]]; then
		_@_value "$value" "$word"
	elif [[ $word == -* ]]; then
		_@_words "$options" "$word"
	elif [[ -n $subcommands ]]; then
		_@_words "$subcommands" "$word"
	else
		_@_value "$argument" "$word"
	fi
}

complete -F _@ @
